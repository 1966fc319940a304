#!/usr/bin/env node
// Stands here before dist is built, so that an installation links the command.
import './dist/main.js'
