# The gateway as a container: built in one stage, run in another that has neither compiler nor sources.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/after-build.mjs scripts/
COPY src src
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production TURNPIKE_DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
RUN npm ci --ignore-scripts --omit=dev && npm cache clean --force
COPY config config
COPY --from=build /build/dist dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data

# 8080 takes requests, 8081 is the admin side. Both listen on loopback unless the configuration says otherwise.
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8081/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
