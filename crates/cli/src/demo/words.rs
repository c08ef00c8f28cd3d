//! Words that made-up rows are put together from.

pub(super) const FIRST: [&str; 40] = [
    "Ada", "Amir", "Ana", "Ben", "Chen", "Clara", "Dana", "Elif", "Emil", "Fatima", "Felix",
    "Grace", "Hana", "Hugo", "Ines", "Ivan", "Jonas", "Kai", "Lena", "Liam", "Lucia", "Maja",
    "Marco", "Mei", "Mila", "Nadia", "Noah", "Nora", "Olga", "Omar", "Paul", "Priya", "Rosa",
    "Sam", "Sofia", "Tariq", "Tom", "Vera", "Yara", "Zoe",
];

pub(super) const LAST: [&str; 40] = [
    "Ahmed",
    "Andersson",
    "Bauer",
    "Becker",
    "Brown",
    "Chen",
    "Costa",
    "Diaz",
    "Dubois",
    "Fischer",
    "Garcia",
    "Haddad",
    "Hansen",
    "Ito",
    "Jansen",
    "Kaya",
    "Keller",
    "Khan",
    "Kim",
    "Kowalski",
    "Lang",
    "Lee",
    "Lopez",
    "Martin",
    "Meier",
    "Moreau",
    "Müller",
    "Nguyen",
    "Novak",
    "Okafor",
    "Olsen",
    "Patel",
    "Petrov",
    "Rossi",
    "Santos",
    "Schmid",
    "Silva",
    "Tanaka",
    "Weber",
    "Yilmaz",
];

pub(super) const COMPANY: [&str; 32] = [
    "Alder", "Amber", "Anchor", "Aspen", "Beacon", "Birch", "Bright", "Cedar", "Cobalt", "Compass",
    "Copper", "Delta", "Ember", "Falcon", "Fern", "Granite", "Harbor", "Juniper", "Lantern",
    "Linden", "Maple", "Meridian", "North", "Orchid", "Pine", "Quartz", "River", "Saffron",
    "Slate", "Summit", "Tide", "Willow",
];

pub(super) const KIND: [&str; 16] = [
    "Analytics",
    "Bakery",
    "Biotech",
    "Capital",
    "Clinics",
    "Energy",
    "Foods",
    "Freight",
    "Games",
    "Health",
    "Labs",
    "Logistics",
    "Media",
    "Robotics",
    "Studios",
    "Textiles",
];

pub(super) const INDUSTRY: [&str; 10] = [
    "software",
    "retail",
    "health",
    "finance",
    "logistics",
    "energy",
    "media",
    "food",
    "manufacturing",
    "education",
];

pub(super) const CITY: [(&str, &str); 20] = [
    ("Amsterdam", "NL"),
    ("Austin", "US"),
    ("Barcelona", "ES"),
    ("Berlin", "DE"),
    ("Bern", "CH"),
    ("Boston", "US"),
    ("Cape Town", "ZA"),
    ("Chicago", "US"),
    ("Dublin", "IE"),
    ("Lagos", "NG"),
    ("Lisbon", "PT"),
    ("London", "GB"),
    ("Lyon", "FR"),
    ("Osaka", "JP"),
    ("Oslo", "NO"),
    ("São Paulo", "BR"),
    ("Seoul", "KR"),
    ("Toronto", "CA"),
    ("Vienna", "AT"),
    ("Zürich", "CH"),
];

pub(super) const OWNER: [&str; 12] =
    ["adam", "bea", "carl", "dora", "emma", "finn", "gita", "hank", "iris", "jude", "kira", "luis"];

pub(super) const TITLE: [&str; 14] = [
    "Accountant",
    "Analyst",
    "Buyer",
    "CEO",
    "CFO",
    "CTO",
    "Designer",
    "Engineer",
    "Head of Data",
    "Head of Sales",
    "IT Manager",
    "Office Manager",
    "Product Manager",
    "VP Operations",
];

pub(super) const PLAN: [(&str, i64); 4] =
    [("free", 0), ("team", 4_900), ("business", 19_900), ("enterprise", 99_000)];

pub(super) const CARRIER: [&str; 5] = ["DHL", "FedEx", "PostNord", "UPS", "Yamato"];

pub(super) const ORDER_STATUS: [&str; 5] = ["open", "paid", "packed", "shipped", "returned"];

pub(super) const SHIPPING: [&str; 5] =
    ["label printed", "in transit", "at customs", "out for delivery", "delivered"];
