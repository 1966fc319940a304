/** Import rules between the parts of the project; those between the modules of src are in scripts/import-rules. */
import { houseRules } from './scripts/import-rules/house.mjs'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...houseRules,
    {
      name: 'the-contract-knows-no-code',
      comment: 'openapi is the source of truth: its implementation imports it, never the other way round.',
      severity: 'error',
      from: { path: '^openapi/' },
      to: { path: '^(src|test|ui)/' },
    },
    {
      name: 'the-ui-is-a-client',
      comment:
        'The pages know the contract alone: what they need from the server is an operation in openapi, called through its client. Templates and numbers are read by the same code on both sides.',
      severity: 'error',
      from: { path: '^ui/src/' },
      to: { path: '^(src|test|bench|scripts)/', pathNot: ['^src/templates/', '^src/untrusted/exact-json\\.ts$'] },
    },
    {
      name: 'the-client-stands-alone',
      comment:
        'The package is published without dependencies and runs in browsers: it imports only the generated types, through its schema.ts.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { pathNot: ['^packages/client/src/', '^openapi/generated/schema\\.ts$'] },
    },
    {
      name: 'the-client-takes-types-of-the-contract',
      comment: 'Only types are generated: use "export type" in schema.ts.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { path: '^openapi/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-server-needs-no-client',
      comment: 'packages/client uses the server over HTTP. What both need is an operation in openapi.',
      severity: 'error',
      from: { path: '^(src|openapi)/' },
      to: { path: '^packages/' },
    },
    {
      name: 'the-server-serves-the-ui-as-files',
      comment: 'http/pages/ui.ts serves what vite built; nothing imports the pages.',
      severity: 'error',
      from: { path: '^(src|openapi)/' },
      to: { path: '^ui/' },
    },
    {
      name: 'src-needs-no-tests',
      comment: 'Move what the product needs to src.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: ['^test/', '^scripts/', '^bench/'] },
    },
    {
      name: 'nobody-needs-bench-or-scripts',
      comment: 'Move what the product needs to src. Tests may run a script, never the bench.',
      severity: 'error',
      from: { pathNot: '^(bench|scripts|test)/' },
      to: { path: '^(bench|scripts)/' },
    },
    {
      name: 'tests-need-no-bench',
      comment: 'Tests check correctness, the bench measures speed. Move the programs that both start to test/support.',
      severity: 'error',
      from: { path: '^test/' },
      to: { path: '^bench/' },
    },
    {
      name: 'bench-measures-from-outside',
      comment:
        'Greenroom is measured as its users run it, as a process that serves HTTP. Of its code the bench imports only the generated client and what starts and queries PostgreSQL.',
      severity: 'error',
      from: { path: '^bench/' },
      to: {
        path: '^(src|openapi|ui|scripts|packages)/',
        pathNot: ['^src/persistence/postgres/(database|embedded/embedded)\\.ts$', '^openapi/client\\.ts$'],
      },
    },
    {
      name: 'bench-takes-starters-of-tests',
      comment:
        'Of the tests the bench imports only what starts a program and cleans up after it (the product, Redis, an MCP server, a browser). Anything that checks results stays in test.',
      severity: 'error',
      from: { path: '^bench/' },
      to: {
        path: '^test/',
        pathNot:
          '^test/(support/[a-z/]*(product|npm-start|program|redis|system-parts|free-port|mcp-servers|upstream)|ui/browser)\\.ts$',
      },
    },
    {
      name: 'scripts-read-records',
      comment:
        'A script writes documents from recorded data, or calls the product: of the tests it imports recorded clients, of the bench recorded results and their tables.',
      severity: 'error',
      from: { path: '^scripts/' },
      to: {
        path: '^(test|bench|ui)/',
        pathNot: ['^test/clients/[a-z/]*rows\\.ts$', '^bench/(runner|figures)/(case|figures|results|tables)\\.ts$'],
      },
    },
    {
      name: 'no-cycles',
      comment:
        'Move what both need into a third file, or pass one of them in as a parameter. Types may refer to each other.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-dead-files',
      comment: 'Not reachable from cli/main.ts. Delete the file, or use it.',
      severity: 'error',
      from: { path: '^src/cli/main\\.ts$' },
      // What lies in docs-page/ is read and sent to browsers (http/pages/docs.ts).
      to: { path: '^src/', pathNot: '^src/http/pages/docs-page/', reachable: false },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports this file, and it imports nothing. Delete it, or use it.',
      severity: 'error',
      from: { orphan: true, path: '^(src|ui/src|packages)/', pathNot: '^(src/http/pages/docs-page|ui/src/entry)' },
      to: {},
    },
    {
      name: 'no-development-packages',
      comment:
        'The product is installed without development packages: move the package to "dependencies", or do without it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'everything-resolves',
      comment: 'The file or package does not exist: check the spelling and the ".ts", or add the package.',
      severity: 'error',
      // Third-party programs, installed when they are run.
      from: { pathNot: ['^test/clients/(drivers/|copilotkit/[a-z]+\\.js$)', '^bench/contenders/[^/]+/'] },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
