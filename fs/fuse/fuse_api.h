/// libfuse's low-level API, included in one way everywhere.
#pragma once

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 314
#endif
#include <fuse_lowlevel.h>

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
#define FLASHLAB_FUSE_TMPFILE
#define FLASHLAB_FUSE_KILLPRIV_V2
#endif

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
#define FLASHLAB_FUSE_STATX
#define FLASHLAB_FUSE_IO_URING
#endif
