"""Load what each program would load for itself: the model of the default embedder, a second and 150 MB."""

from fateforger.adapters.memory.vectors import LocalMeaning

LocalMeaning().embed("warm")
