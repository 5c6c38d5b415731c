// Who knows of podcasts knows of addresses, dates and media types.
@_exported public import WebValues
