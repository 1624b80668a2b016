# What is made from the command table: completion for three shells, and the manual pages where scdoc is.
#   cmake -DFLASHLAB=BINARY -DTREE=SOURCE -DTO=FOLDER [-DSCDOC=PROGRAM] -P generate.cmake
foreach(shell bash zsh fish man)
  execute_process(COMMAND ${FLASHLAB} completion ${shell} OUTPUT_FILE ${TO}/flashlab.${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(SCDOC)
  file(READ ${TREE}/docs/man/flashlab.1.scd page)
  file(READ ${TO}/flashlab.man options)
  string(REPLACE "; OPTIONS, made by: flashlab completion man\n" "${options}" page "${page}")
  file(WRITE ${TO}/flashlab.1.scd "${page}")
  execute_process(COMMAND ${SCDOC} INPUT_FILE ${TO}/flashlab.1.scd OUTPUT_FILE ${TO}/flashlab.1 COMMAND_ERROR_IS_FATAL ANY)
  foreach(helper mount mkfs fsck)
    execute_process(COMMAND ${SCDOC} INPUT_FILE ${TREE}/docs/man/${helper}.flashlab.8.scd OUTPUT_FILE ${TO}/${helper}.flashlab.8
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(WRITE ${TO}/mount.fuse.flashlab.8 ".so man8/mount.flashlab.8\n")
endif()
