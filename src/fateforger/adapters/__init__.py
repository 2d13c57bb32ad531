"""Each outside thing as its port asks for it. Only ``bootstrap`` knows them."""
