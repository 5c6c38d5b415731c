/// The categories of the podcast namespace
/// (https://github.com/Podcastindex-org/podcast-namespace/blob/main/categories.json).
package enum Categories {
  /// Their names, each at the place of its number less one.
  package static let names = [
    "Arts", "Books", "Design", "Fashion", "Beauty", "Food", "Performing", "Visual", "Business", "Careers",
    "Entrepreneurship", "Investing", "Management", "Marketing", "Non-Profit", "Comedy", "Interviews",
    "Improv", "Stand-Up", "Education", "Courses", "How-To", "Language", "Learning", "Self-Improvement",
    "Fiction", "Drama", "History", "Health", "Fitness", "Alternative", "Medicine", "Mental", "Nutrition",
    "Sexuality", "Kids", "Family", "Parenting", "Pets", "Animals", "Stories", "Leisure", "Animation",
    "Manga", "Automotive", "Aviation", "Crafts", "Games", "Hobbies", "Home", "Garden", "Video-Games",
    "Music", "Commentary", "News", "Daily", "Entertainment", "Government", "Politics", "Buddhism",
    "Christianity", "Hinduism", "Islam", "Judaism", "Religion", "Spirituality", "Science", "Astronomy",
    "Chemistry", "Earth", "Life", "Mathematics", "Natural", "Nature", "Physics", "Social", "Society",
    "Culture", "Documentary", "Personal", "Journals", "Philosophy", "Places", "Travel", "Relationships",
    "Sports", "Baseball", "Basketball", "Cricket", "Fantasy", "Football", "Golf", "Hockey", "Rugby",
    "Running", "Soccer", "Swimming", "Tennis", "Volleyball", "Wilderness", "Wrestling", "Technology",
    "True Crime", "TV", "Film", "After-Shows", "Reviews", "Climate", "Weather", "Tabletop", "Role-Playing",
    "Cryptocurrency",
  ]

  private static let numbers: [String: UInt8] = {
    var numbers: [String: UInt8] = [:]
    for (place, name) in names.enumerated() { numbers[key(name)] = UInt8(place + 1) }
    return numbers
  }()

  /// - Returns: nil where no category has that name, whatever its case and hyphens.
  package static func number(of name: String) -> UInt8? { numbers[key(name)] }

  private static func key(_ name: String) -> String {
    name.lowercased().filter { $0 != "-" && $0 != " " && $0 != "_" }
  }

  static func name(_ number: UInt8) -> String? {
    names.indices.contains(Int(number) - 1) ? names[Int(number) - 1] : nil
  }
}
