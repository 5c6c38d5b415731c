#ifndef PODCASTFS_CLIBXML2_SHIM_H
#define PODCASTFS_CLIBXML2_SHIM_H

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <iconv.h>

#endif
