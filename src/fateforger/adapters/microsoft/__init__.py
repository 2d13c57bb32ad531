"""A calendar of Microsoft 365 or Outlook.com, over Microsoft Graph v1.0."""
