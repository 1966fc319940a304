// Runs on any Node.js, before those scripts that do not.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `The project's own Node.js 24 is missing, and this is ${process.versions.node}: npm ran no install scripts. "npm rebuild" runs them.`,
  )
  process.exit(1)
}
