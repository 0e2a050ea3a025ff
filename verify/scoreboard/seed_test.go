package scoreboard

import _ "rnicmmu/internal/seed" // of the properties
