# The bot. Everything it stands on comes from requirements.lock, by hash.
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS build

WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/fateforger \
 && /opt/fateforger/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/fateforger/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d

# pg_dump and pg_restore, for fateforger admin backup and restore of a PostgreSQL up to this version.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-client-15 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data --no-create-home fateforger \
 && install -d -o fateforger -m 700 /data
COPY --from=build /opt/fateforger /opt/fateforger
ENV PATH=/opt/fateforger/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    FATEFORGER_DATA_DIR=/data \
    FATEFORGER_HOST=0.0.0.0
USER fateforger
WORKDIR /data
VOLUME /data
# The page, and the probes and figures if FATEFORGER_OPS_PORT is 9464.
EXPOSE 8765 9464
HEALTHCHECK --interval=30s --timeout=10s --start-period=40s CMD ["fateforger", "health"]
ENTRYPOINT ["fateforger"]
CMD ["up"]
