"""A host on this machine: feeds, a directory service, covers and episodes, some of them slow; it counts what is asked."""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TYPES = {"mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "jpg": "image/jpeg"}


class Origin:
    """Paths: /feed/N.xml, /cover/N.jpg, /search, /RATE/NAME and /RATE/unsized/NAME; RATE in bytes a second, 0 for none."""

    def __init__(self, files):
        self.files, self.feeds, self.results, self.requests = files, {}, [], []
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"origin": self}))
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def note(self, path, agent):
        with self.lock:
            self.requests.append((path, agent or ""))

    def count(self, pattern):
        """How many requests of podcastfs were for such a path since the last `forget`."""
        with self.lock:
            return sum(1 for path, agent in self.requests if re.search(pattern, path) and "podcastfs" in agent)

    def forget(self):
        with self.lock:
            self.requests.clear()

    def publish(self, number, title, episodes):
        """A feed of (title, path) pairs, one a day, also found by every search."""
        items = []
        for day, (name, path) in enumerate(episodes):
            kind = path.rsplit(".", 1)[-1].split("?")[0]
            size = len(self.files[path.split("?")[0].rsplit("/", 1)[-1]])
            date = time.strftime("%a, %d %b %Y 06:00:00 GMT", time.gmtime(1704067200 + 86400 * day))
            items.append(
                f"<item><title>{name}</title><guid>{number}-{path}</guid><pubDate>{date}</pubDate>"
                f'<enclosure url="{self.url}{path}" type="{TYPES[kind]}" length="{size}"/></item>'
            )
        self.feeds[number] = (
            '<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>'
            f'<title>{title}</title><itunes:image href="{self.url}/cover/{number}.jpg"/>{"".join(items)}</channel></rss>'
        ).encode()
        self.results.append({"collectionId": number, "collectionName": title, "feedUrl": f"{self.url}/feed/{number}.xml"})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    origin = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.origin.note(self.path, self.headers.get("User-Agent"))
        path = self.path.split("?")[0]
        name = path.rsplit("/", 1)[-1]
        rate, sized = 0, "/unsized/" not in path
        kind = TYPES.get(name.rsplit(".", 1)[-1], "application/octet-stream")
        if path == "/search":
            data = json.dumps({"resultCount": len(self.origin.results), "results": self.origin.results}).encode()
            kind = "application/json"
        elif path.startswith("/feed/"):
            time.sleep(0.3)
            data, kind = self.origin.feeds[int(name[:-4])], "application/rss+xml"
        elif path.startswith("/cover/"):
            data = self.origin.files["cover.jpg"]
        else:
            rate, data = int(path.split("/")[1]), self.origin.files.get(name)
        self.answer(data, kind, rate, sized)

    def answer(self, data, kind, rate, sized):
        start, end, status = 0, len(data), 200
        wanted = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted and sized:
            start, status = int(wanted[1]), 206
            end = min(end, int(wanted[2]) + 1) if wanted[2] else end
            if start >= len(data):
                status, start, end = 416, 0, 0
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if sized:
            self.send_header("ETag", '"%d"' % len(data))
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(end - start))
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.send(memoryview(data)[start:end], rate, sized)
        except OSError:
            self.close_connection = True

    def send(self, body, rate, sized):
        step, began = max(512, min(65536, (rate or 1 << 30) // 50)), time.monotonic()
        for sent in range(0, len(body), step):
            piece = body[sent : sent + step]
            self.wfile.write(piece if sized else b"%x\r\n%b\r\n" % (len(piece), piece))
            if rate:
                time.sleep(max(0, began + (sent + len(piece)) / rate - time.monotonic()))
        if not sized:
            self.wfile.write(b"0\r\n\r\n")
