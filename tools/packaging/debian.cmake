# cpack runs this on what will be in the package. It adds what Debian asks for: compressed manual pages and change log, the copyright file.
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(share ${root}/usr/share)
set(pages ${share}/man/man1/flashlab.1 ${share}/man/man8/mount.flashlab.8 ${share}/man/man8/mkfs.flashlab.8 ${share}/man/man8/fsck.flashlab.8
  ${share}/man/man8/mount.fuse.flashlab.8)
foreach(page ${pages})
  if(NOT EXISTS ${page})
    message(FATAL_ERROR "${page} is not there: a package has manual pages. Install scdoc, run cmake and build again.")
  endif()
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
set(doc ${share}/doc/flashlab)
# Folders without a page, from the pattern of the installation.
execute_process(COMMAND find ${doc} -type d -empty -delete)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE licence)
string(REGEX REPLACE "\n\n+" "\n .\n " licence "${licence}")
string(REGEX REPLACE "\n([^ ])" "\n \\1" licence "${licence}")
string(STRIP "${licence}" licence)
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: flashlab

Files: *
Copyright: FlashLab contributors
License: Expat
 ${licence}
")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "flashlab (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9n ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
