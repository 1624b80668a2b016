# FlashLab in a container: everything but mounts works without privileges.
#   docker build -t flashlab . && docker run --rm flashlab bench --json
#   mounts: docker run --rm --device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined -it --entrypoint bash flashlab
FROM debian:12 AS build
COPY . /src
WORKDIR /src
# hadolint ignore=DL3008
RUN sh tools/install_dependencies.sh && apt-get install -y --no-install-recommends scdoc \
    && cmake --preset release && cmake --build --preset release --target flashlab nbdkit-flashlab-plugin \
    && cmake --install build/release --prefix /usr/local --component Unspecified --strip

FROM debian:12
# Versions are those of the Debian release.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends fuse3 libsqlite3-0 zlib1g libzstd1 liblzma5 libexpat1 libncursesw6 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
ENTRYPOINT ["flashlab"]
CMD ["--help"]
