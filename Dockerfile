# The browser service, with Debian's Chromium, as an ordinary user. The smart home of the examples is in it as well.
FROM python:3.11-slim

# Playwright's driver needs libatomic. Without fonts, pages are rectangles in pictures: Liberation and Noto for most
# scripts, WenQuanYi for Chinese, Japanese and Korean.
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium libatomic1 fonts-liberation fonts-noto-core fonts-noto-color-emoji fonts-wqy-microhei \
    && rm -rf /var/lib/apt/lists/*

LABEL org.opencontainers.image.title="browse-together" \
      org.opencontainers.image.description="One logged-in browser, shared safely by many agents." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"

WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY shared ./shared
COPY browser_service ./browser_service
COPY mcp_gateway ./mcp_gateway
COPY mcp_home_simulator ./mcp_home_simulator
COPY skills ./skills
RUN pip install --no-cache-dir --constraint constraints.txt '.[video,otel]'
COPY examples ./examples

RUN useradd --create-home --uid 1000 browse && install --directory --owner=browse --mode=0700 /data
USER browse
VOLUME /data

# BROWSE_SANDBOX: Docker's default seccomp profile forbids the user namespaces that Chromium's sandbox is made of, so
# that the container is the only wall around a page. Where the container may make them (a seccomp profile that allows
# clone and unshare, given by --security-opt), set it to "on".
ENV BROWSE_DATA_DIR=/data \
    BROWSE_SANDBOX=off

EXPOSE 8888
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8888, timeout=4); c.request('GET', '/health'); raise SystemExit(c.getresponse().status != 200)"]

# Chromium leaves orphans for process 1 to collect: run it with --init.
CMD ["browse-together", "up", "--host", "0.0.0.0"]
