/// The program's version (Semantic Versioning), as `--version`, the user agent and the root's attribute say it.
package let podcastfsVersion = "0.1.0"
