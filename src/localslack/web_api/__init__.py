"""The Web API methods an app calls, one file per family."""
