#ifndef PODCASTFS_CLIBXML2_SHIM_H
#define PODCASTFS_CLIBXML2_SHIM_H

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <iconv.h>

/// The version of the library that is loaded, as 10000 * major + 100 * minor + patch in decimal digits.
static inline const char *podcastfs_xml_version(void) { return xmlParserVersion; }

#endif
