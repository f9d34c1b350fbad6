# An image of each of Loadline's programs, by the name of its stage:
#
#   docker build --target loadline-manager --tag loadline/loadline-manager:dev .
#
# Releases are made without Docker, by "make images": their digests can be reproduced.

ARG GO_VERSION=1.26.8
FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
RUN mkdir -p /base/etc /base/tmp && chmod 1777 /base/tmp \
    && printf 'root:x:0:0:root:/:\nnonroot:x:65532:65532:nonroot:/tmp:\n' >/base/etc/passwd \
    && printf 'root:x:0:\nnonroot:x:65532:\n' >/base/etc/group
WORKDIR /src
COPY . .
ARG TARGETOS TARGETARCH
ARG VERSION=unknown
ARG COMMIT=unknown
ARG COMMIT_DATE=1970-01-01T00:00:00Z
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS="$TARGETOS" GOARCH="$TARGETARCH" make build VERSION="$VERSION" COMMIT="$COMMIT" COMMIT_DATE="$COMMIT_DATE"

FROM scratch AS base
ARG VERSION=unknown
ARG COMMIT=unknown
ARG COMMIT_DATE=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.created="$COMMIT_DATE" \
      org.opencontainers.image.source="https://loadline.dev/loadline" \
      org.opencontainers.image.documentation="https://loadline.dev/docs" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /base /
ENV PATH=/usr/local/bin
USER 65532:65532

FROM base AS kubectl-loadline
LABEL org.opencontainers.image.title="kubectl-loadline"
COPY --from=build /src/bin/kubectl-loadline /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/kubectl-loadline"]

FROM base AS loadline-gauge
LABEL org.opencontainers.image.title="loadline-gauge"
COPY --from=build /src/bin/loadline-gauge /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/loadline-gauge"]

FROM base AS loadline-probe
LABEL org.opencontainers.image.title="loadline-probe"
COPY --from=build /src/bin/loadline-probe /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/loadline-probe"]

FROM base AS loadline-scheduler
LABEL org.opencontainers.image.title="loadline-scheduler"
COPY --from=build /src/bin/loadline-scheduler /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/loadline-scheduler"]

FROM base AS loadline-manager
LABEL org.opencontainers.image.title="loadline-manager"
COPY --from=build /src/bin/loadline-manager /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/loadline-manager"]
