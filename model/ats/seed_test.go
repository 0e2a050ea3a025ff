package ats

import _ "rnicmmu/internal/seed"
