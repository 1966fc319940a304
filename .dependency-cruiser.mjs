/** The doors between the rooms. Each comment says what to do instead. */

const vocabulary = '^src/actors/(ports|reply-event|observer|transitions)\\.ts$'
const process = '^src/(main|workers|settings|settings-values)\\.ts$'

const roomRules = ['persistence', 'providers', 'tools', 'coordination', 'observability'].flatMap((room) => [
  {
    name: `${room}-stands-alone`,
    comment: `${room} knows no other room. Declare what it needs in actors/ports.ts or as a parameter, and let compose/ hand it in.`,
    severity: 'error',
    from: { path: `^src/${room}/` },
    to: { path: ['^src/', '^openapi/'], pathNot: [`^src/${room}/`, '^src/untrusted/', vocabulary] },
  },
  {
    name: `${room}-takes-types-of-actors`,
    comment:
      'Adapters implement the ports: use "import type". What both need at run time belongs where it is called, or is handed in by compose/.',
    severity: 'error',
    from: { path: `^src/${room}/` },
    // The lists of finish reasons, error codes and event kinds are values, and stand in reply-event.ts alone.
    to: { path: vocabulary, pathNot: '^src/actors/reply-event\\.ts$', dependencyTypesNot: ['type-only'] },
  },
])

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'actors-import-no-room',
      comment:
        'A session knows nothing of the world. Declare what it needs in actors/ports.ts, and implement it in another room.',
      severity: 'error',
      from: { path: '^src/actors/' },
      to: { path: ['^src/', '^openapi/'], pathNot: '^src/actors/' },
    },
    ...roomRules,
    {
      name: 'untrusted-imports-nothing',
      comment:
        'src/untrusted/ is what every room may do with text and bytes of others: no I/O, no types of ours. What knows more belongs to the room that reads them.',
      severity: 'error',
      from: { path: '^src/untrusted/' },
      to: { path: '^src/', pathNot: '^src/untrusted/' },
    },
    {
      name: 'http-speaks-to-actors-and-persistence',
      comment:
        'Conversations go to actors, plain records to persistence, the contract is openapi. For anything else declare a parameter, and let compose/ hand it in.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/', pathNot: ['^src/(http|actors|persistence)/', '^src/settings(-values)?\\.ts$'] },
    },
    {
      name: 'deploy-and-management-are-apart',
      comment: 'The two scopes share nothing but what lies in http/ itself: move there what both need.',
      severity: 'error',
      from: { path: '^src/http/(deploy|management)/' },
      to: { path: '^src/http/(deploy|management)/', pathNot: '^src/http/$1/' },
    },
    {
      name: 'postgres-knows-no-table',
      comment:
        'persistence/postgres is how to speak to a database. What knows a table belongs to replies/ or records/.',
      severity: 'error',
      from: { path: '^src/persistence/postgres/' },
      to: { path: '^src/', pathNot: '^src/persistence/postgres/' },
    },
    {
      name: 'replies-and-records-are-apart',
      comment:
        'Conversations and configuration change for different reasons: whoever needs both is http or compose/, which hand one to the other.',
      severity: 'error',
      from: { path: '^src/persistence/(replies|records)/' },
      to: { path: '^src/persistence/(replies|records)/', pathNot: '^src/persistence/$1/' },
    },
    {
      name: 'settings-are-handed-in',
      comment:
        'Only main.ts and compose/app.ts read settings. Take the values that you need as parameters; a type may be imported.',
      severity: 'error',
      from: { path: '^src/', pathNot: [process, '^src/compose/app\\.ts$'] },
      to: { path: '^src/settings(-values)?\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'settings-know-no-room',
      comment:
        'Settings are read before anything else exists. What two must know of the form of a value stands in one place: of password hashes in http/management/password.ts, of the URL of Redis in coordination/redis-address.ts.',
      severity: 'error',
      from: { path: '^src/settings(-values)?\\.ts$' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/settings-values\\.ts$',
          '^src/http/management/password\\.ts$',
          '^src/coordination/redis-address\\.ts$',
        ],
      },
    },
    {
      name: 'only-main-composes',
      comment: 'compose/ knows all rooms; no room knows it. Tests may build it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts$|compose/)' },
      to: { path: '^src/(compose/|main\\.ts$)' },
    },
    {
      name: 'only-main-touches-the-process',
      comment: 'Take arguments, environment and signals as parameters: main.ts owns the process.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/main\\.ts$' },
      to: { path: '^(node:)?process$', dependencyTypes: ['core'] },
    },
    {
      name: 'calls-out-go-through-outbound',
      comment:
        'Only tools/outbound*.ts connects to what a caller named: take an Outbound (or a ProviderFetch) as a parameter. The database has its own way in persistence/postgres; http is the server.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          process,
          '^src/tools/(outbound|outbound-call|address-lookup)\\.ts$',
          '^src/http/',
          '^src/persistence/postgres/',
          '^src/observability/metrics-server\\.ts$',
        ],
      },
      to: {
        path: ['^(node:)?(http|https|http2|net|tls|dgram|dns)(/|$)', 'node_modules/undici/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'the-contract-knows-no-code',
      comment: 'openapi is the source of truth; what implements it imports it, never the other way.',
      severity: 'error',
      from: { path: '^openapi/' },
      to: { path: '^(src|test|ui)/' },
    },
    {
      name: 'the-ui-is-a-client',
      comment:
        'The pages know the contract alone: what they need of the server is an operation in openapi, asked for through its client.',
      severity: 'error',
      from: { path: '^ui/src/' },
      to: { path: '^(src|test|bench|scripts)/' },
    },
    {
      name: 'the-client-stands-alone',
      comment:
        'The package is published without dependencies and runs in browsers: of the rest it takes the generated types alone, through its schema.ts.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { pathNot: ['^packages/client/src/', '^openapi/generated/schema\\.ts$'] },
    },
    {
      name: 'the-client-takes-types-of-the-contract',
      comment: 'What is generated is types: use "export type" in schema.ts.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { path: '^openapi/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-server-needs-no-client',
      comment: 'packages/client speaks to the server over HTTP. What both need is an operation in openapi.',
      severity: 'error',
      from: { path: '^(src|openapi)/' },
      to: { path: '^packages/' },
    },
    {
      name: 'the-server-serves-the-ui-as-files',
      comment: 'http/ui.ts serves what vite built; nothing imports the pages.',
      severity: 'error',
      from: { path: '^(src|openapi)/' },
      to: { path: '^ui/' },
    },
    {
      name: 'src-needs-no-tests',
      comment: 'What the product needs lies in src; move it there.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: ['^test/', '^scripts/', '^bench/'] },
    },
    {
      name: 'nobody-needs-bench-or-scripts',
      comment:
        'What is measured or generated by them does not know them. Move what the product needs to src. Tests may run a script, never the bench.',
      severity: 'error',
      from: { pathNot: '^(bench|scripts|test)/' },
      to: { path: '^(bench|scripts)/' },
    },
    {
      name: 'tests-need-no-bench',
      comment: 'A test judges right and wrong, the bench fast and slow. Move what both start to test/support.',
      severity: 'error',
      from: { path: '^test/' },
      to: { path: '^bench/' },
    },
    {
      name: 'bench-measures-from-outside',
      comment:
        'Greenroom is measured as a process that answers HTTP, as its users have it. Of its code the bench takes only what starts PostgreSQL and speaks to it, and the generated client.',
      severity: 'error',
      from: { path: '^bench/' },
      to: {
        path: '^(src|openapi|ui|scripts|packages)/',
        pathNot: ['^src/persistence/postgres/(database|embedded)\\.ts$', '^openapi/client\\.ts$'],
      },
    },
    {
      name: 'bench-takes-starters-of-tests',
      comment:
        'Of the tests the bench takes what starts a program and cleans up after it (the product, Redis, an MCP server, a browser): one way to do that is enough. Anything that judges stays in test.',
      severity: 'error',
      from: { path: '^bench/' },
      to: {
        path: '^test/',
        pathNot: '^test/(support/(product|program|redis|system-parts|free-port|mcp-servers|upstream)|ui/browser)\\.ts$',
      },
    },
    {
      name: 'scripts-read-records',
      comment:
        'A script writes documents from records, or calls the product: of tests it takes recorded clients, of the bench recorded results and their tables.',
      severity: 'error',
      from: { path: '^scripts/' },
      to: {
        path: '^(test|bench|ui)/',
        pathNot: ['^test/clients/rows\\.ts$', '^bench/(case|figures|results|tables)\\.ts$'],
      },
    },
    {
      name: 'no-cycles',
      comment:
        'Move what both need into a third file, or hand one of them in as a parameter. Types may refer to each other.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-dead-files',
      comment: 'Nothing that main.ts starts leads here. Delete the file, or use it.',
      severity: 'error',
      from: { path: '^src/main\\.ts$' },
      to: { path: '^src/', reachable: false },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports this file and it imports nothing. Delete it, or use it.',
      severity: 'error',
      from: { orphan: true, path: '^(src|ui/src|packages)/' },
      to: {},
    },
    {
      name: 'no-development-packages',
      comment:
        'The product is installed without development packages: move the package to "dependencies", or do without.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'everything-resolves',
      comment: 'The file or package does not exist: check the spelling and the ".ts", or add the package.',
      severity: 'error',
      // Programs of others, installed by whoever runs them.
      from: { pathNot: ['^test/clients/drivers/', '^bench/contenders/[^/]+/'] },
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
