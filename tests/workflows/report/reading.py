"""Read a report as a browser does: its tables, texts and attributes."""

from html.parser import HTMLParser


class Read(HTMLParser):
    """Elements with their attributes, texts without style sheets, and tables by caption."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.headings = [], [], []
        self.tables, self.open, self.caption = {}, [], ""
        self.feed(page.decode("utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "meta":
            return
        if tag == "caption":
            self.caption = ""
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.row.append("")
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "caption":
            self.tables[self.caption] = []
        if tag == "tr":
            self.tables[self.caption].append(self.row)

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.texts.append(data)
        if "caption" in self.open:
            self.caption += data
        if {"td", "th"} & {*self.open}:
            self.row[-1] += data
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings.append(data)

    def table(self, beginning):
        """Rows of the one table whose caption begins so, as dicts by column."""
        (found,) = (rows for name, rows in self.tables.items() if name.startswith(beginning))
        head, *rows = found
        return [dict(zip(head, row, strict=True)) for row in rows]
