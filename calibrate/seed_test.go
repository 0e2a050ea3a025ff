package calibrate

import _ "rnicmmu/internal/seed"
