# The image of editd: dist/ and the runtime dependencies on a slim Node. It doesn't run as root and writes only to its two
# volumes.
#
#   docker build -t editd .
#   docker run --rm --read-only -p 127.0.0.1:7333:7333 -e EDITD_TOKEN="$EDITD_TOKEN" \
#     -v "$PWD:/workspace" -v editd-state:/state editd
#
# It needs a token. Inside a container the service has to listen on 0.0.0.0, which others can reach, so by design it
# refuses to start without a configured token: `docker run editd` alone prints that fault and exits with 2. Pass a token
# with -e EDITD_TOKEN, or mount a file and name it with -e EDITD_TOKEN_FILE.
#
# Whatever follows the image's name is passed to editd as flags: `docker run … editd --read-only`. Change the port with
# -e EDITD_PORT rather than --port, since the health check reads only the environment.
#
# The user is node (1000:1000). A mounted folder has to be writable for it; otherwise add --user "$(id -u):$(id -g)" and
# mount a folder of that user on /state too. All containers on one workspace share one /state.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY build.js tsconfig.json tsconfig.build.json ./
COPY src src
COPY routes routes
COPY schemas schemas
COPY page page
RUN node build.js --no-check && rm -r dist/build.* dist/src dist/routes dist/schemas && rm page/review/*.ts page/review/tsconfig.json && npm prune --omit=dev --ignore-scripts --no-audit --no-fund && npm pkg delete devDependencies scripts overrides

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="editd" \
      org.opencontainers.image.description="The edit service for agents that are not on the machine where the files are." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.authors="The editd project"
ENV NODE_ENV=production EDITD_ROOT=/workspace EDITD_STATE_DIR=/state EDITD_HOST=0.0.0.0
WORKDIR /app
# Owned by root, so the service can't change its own code.
COPY LICENSE NOTICES.md ./
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/page page
# A new named volume takes over the owner and mode of the folder it is mounted on.
RUN mkdir -m 755 /workspace && mkdir -m 700 /state && chown node:node /workspace /state
VOLUME ["/workspace", "/state"]
USER node
EXPOSE 7333
# The default, stated because the service relies on it: running edits finish, and it exits with 0 within 10 s. It is PID 1
# itself. The only other process is ripgrep, whose end it waits for, so no init is needed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: parseInt(process.env.EDITD_PORT) || 7333, path: '/healthz' }, r => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "dist/server.js"]
