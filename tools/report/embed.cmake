# Writes the files of the report's page into a C++ source, one text each: cmake -DOUT=FILE -DFOLDER=DIR -P embed.cmake
set(pairs "plot_library=vendor/uplot/uPlot.iife.min.js" "plot_library_style=vendor/uplot/uPlot.min.css" "plot_library_licence=vendor/uplot/LICENSE"
  "page_style=page.css" "page_body=page.html" "page_script=page.js" "page_plots=page_plots.js" "page_maps=page_maps.js")
set(source "// Made by tools/report/embed.cmake.\n#include \"tools/report/page_parts.h\"\n\nnamespace flashlab::page_parts {\n")
foreach(pair IN LISTS pairs)
  string(REGEX REPLACE "=.*" "" name "${pair}")
  string(REGEX REPLACE ".*=" "" file "${pair}")
  file(READ "${FOLDER}/${file}" text)
  string(APPEND source "std::string_view ${name}() { return R\"__page__(${text})__page__\"; }\n")
endforeach()
string(APPEND source "} // namespace flashlab::page_parts\n")
file(WRITE "${OUT}" "${source}")
