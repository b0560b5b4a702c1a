"""One self-contained HTML page of a bundle, for people: no script, nothing fetched, nothing believed.

``document`` verifies a bundle and makes its view; ``page`` renders a view.  Between them stand the values of
``view`` alone, so that what a page says can be tested without HTML, and its HTML without a bundle.
"""
