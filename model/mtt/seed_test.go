package mtt

import _ "rnicmmu/internal/seed"
