// Runs on any Node.js, before those scripts that do not. Older releases of 24 have known weaknesses.
const least = [24, 14, 1]
const found = process.versions.node.split('.').map(Number)
const differing = least.findIndex((part, index) => part !== found[index])
if (differing >= 0 && found[differing] < least[differing]) {
  console.error(
    `The project needs Node.js ${least.join('.')} or newer, and this is ${process.versions.node}: npm left optional packages out, or has none for ${process.platform}-${process.arch}. Run "npm ci --include=optional", or bring a newer Node.js.`,
  )
  process.exit(1)
}
