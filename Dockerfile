# An image of one of Loadline's programs:
#
#   docker build --build-arg PROGRAM=loadline-manager -t loadline/loadline-manager:dev .
#
# "make images" makes the same without Docker.
FROM golang:1.26 AS build
ARG PROGRAM=loadline-manager
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /image/usr/local/bin/ ./cmd/${PROGRAM} && mkdir -m 1777 /image/tmp

# No entry point: pods say what they run.
FROM scratch
COPY --from=build /image /
ENV PATH=/usr/local/bin
USER 65532:65532
