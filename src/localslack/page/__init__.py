"""The web page's side of the workspace: what it shows and what a person does there."""
