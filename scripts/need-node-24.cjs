// Runs on any Node.js, before those scripts that do not.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `The project's own Node.js 24 is missing, and this is ${process.versions.node}: npm left optional packages out, or has none for ${process.platform}-${process.arch}. Run "npm ci --include=optional", or bring a Node.js 24.`,
  )
  process.exit(1)
}
