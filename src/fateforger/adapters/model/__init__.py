"""Language models behind :class:`fateforger.ports.model.Model`."""
