package mrc

import _ "rnicmmu/internal/seed"
