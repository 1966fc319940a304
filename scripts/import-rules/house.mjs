/** Import rules between the modules of src. Each comment says what to do instead. */
const vocabulary =
  '^src/(actors/(ports/[a-z-]+|reply/(reply-event|event-schema))|persistence/records/tools/configured-tools)\\.ts$'
const ids = '^src/actors/reply/new-id\\.ts$'
const free = '^src/(untrusted|async|templates)/'
const process = '^src/(main|workers|settings|settings-values|cli/main|cli/help)\\.ts$'

// What the folders of actors/ may import of each other.
const actorRules = [
  ['ports', 'reply/reply-event\\.ts$'],
  ['(generate|history)', '(ports|reply)/'],
  ['(reply|session)', ''],
].map(([folder, below]) => ({
  name: `actors-${folder}-knows-what-is-below`,
  comment: `Actors import no other module: declare what a session needs in actors/ports. Ports are types that all share; a generation also runs without a session. actors/${folder} takes the rest as a parameter.`,
  severity: 'error',
  from: { path: `^src/actors/${folder}/` },
  to: {
    path: ['^src/', '^openapi/'],
    pathNot: [`^src/actors/${folder}/`, `^src/actors/${below}`, free],
  },
}))

const roomRules = ['persistence', 'providers', 'tools', 'coordination', 'observability'].flatMap((room) => [
  {
    name: `${room}-stands-alone`,
    comment: `${room} imports no other module. Declare what it needs in actors/ports/index.ts or as a parameter, and let compose/ pass it in.`,
    severity: 'error',
    from: { path: `^src/${room}/` },
    to: { path: ['^src/', '^openapi/'], pathNot: [`^src/${room}/`, free, vocabulary, ids] },
  },
  {
    name: `${room}-takes-types-of-actors`,
    comment:
      'Adapters implement the ports, and tools name what is configured: use "import type". What both need at run time belongs to the caller, or is passed in by compose/.',
    severity: 'error',
    from: { path: `^src/${room}/` },
    // The lists of finish reasons, error codes and event kinds are values, and are defined in reply-event.ts alone; the form
    // of events as JSON in event-schema.ts.
    to: {
      path: vocabulary,
      pathNot: '^src/actors/reply/(reply-event|event-schema).ts$',
      dependencyTypesNot: ['type-only'],
    },
  },
])

// Features import the core, pure helpers, and of each other what these six offer.
const core = '^src/(actors|persistence|coordination)/'
const sharedFeatures = '^src/features/(audit|limits|keys|parts|sessions|users)/index.ts$'
const routes = '^src/features/[^/]+/(routes|access|login)/'

const featureRules = [
  {
    name: 'features-import-the-core',
    comment:
      'A feature imports the core and pure helpers; of other features only audit, limits, keys, parts, sessions and users. Take the rest as a parameter: the caller or compose/ passes it in. A word that several features share belongs to the core.',
    severity: 'error',
    from: { path: '^src/features/([^/]+)/' },
    to: { path: '^src/', pathNot: ['^src/features/$1/', sharedFeatures, core, free, '^src/http/'] },
  },
  {
    name: 'features-have-one-door',
    comment:
      'Import another feature through its index.ts, and export there what you need. Its files are its own, so that they can move. One door is enough: index.ts makes no cycle, as http/server, http/streaming and http/sending import no route that imports them back.',
    severity: 'error',
    from: { path: '^src/features/([^/]+)/' },
    to: { path: '^src/features/', pathNot: ['^src/features/$1/', '^src/features/[^/]+/index.ts$'] },
  },
  {
    name: 'wires-use-doors',
    comment:
      'Import a feature through its index.ts, and export there what you need. Only compose/ imports files inside a feature. (Settings and the command line read password hashes, and settings roles, before anything else is loaded.)',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/(features|compose)/' },
    to: {
      path: '^src/features/',
      pathNot: [
        '^src/features/[^/]+/index.ts$',
        '^src/features/users/login/password.ts$',
        '^src/features/oidc/claims.ts$',
      ],
    },
  },
  {
    name: 'nothing-imports-http',
    comment:
      'Only http, the routes of features (routes/, access/, login/) and compose/ know HTTP. Take what builds a message or an answer as a function, and let compose/ pass it in.',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/(http|compose)/', routes] },
    to: { path: '^src/http/' },
  },
  {
    name: 'routes-know-no-wire',
    comment:
      'Routes of features build on http/server, http/streaming and http/sending. What a wire or the management API also needs belongs there; the form of an answer is passed in by compose/.',
    severity: 'error',
    from: { path: routes },
    to: { path: '^src/http/', pathNot: '^src/http/(server|streaming|sending)/' },
  },
]

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
export const houseRules = [
  ...actorRules,
  ...roomRules,
  ...featureRules,
  {
    name: 'core-names-no-capability',
    comment:
      'The core knows no feature and no wire, not even by a type: what a capability does while a reply runs is a hook of HostExtension or a collaborator of the generation, made by its feature and handed in by compose/. The columns that it stores are contributions (persistence/replies/contributions.ts); its other statements are its own.',
    severity: 'error',
    from: { path: '^src/(actors|coordination|persistence/replies)/' },
    to: { path: '^src/(features|http)/' },
  },
  {
    name: 'types-of-actors-have-no-circle',
    comment: 'Types of actors refer to each other in one direction: move what both need to the file that is lower.',
    severity: 'error',
    from: { path: '^src/actors/' },
    to: { circular: true },
  },
  {
    name: 'pure-modules-import-nothing',
    comment:
      'src/untrusted/ processes untrusted text and bytes, src/async/ waits, limits and aborts, src/templates/ says what {{…}} means, for every module: no I/O, none of our types. Anything more specific belongs to the module that uses it.',
    severity: 'error',
    from: { path: free },
    to: { path: '^src/', pathNot: ['^src/$1/', '^src/untrusted/is-object\\.ts$'] },
  },
  {
    name: 'http-speaks-to-actors-and-persistence',
    comment:
      'Conversations go to actors, plain records to persistence, the contract is openapi. For anything else declare a parameter, and let compose/ pass it in.',
    severity: 'error',
    from: { path: '^src/http/' },
    to: {
      path: '^src/',
      pathNot: '^src/((http|features|actors|persistence|untrusted|async|templates)/|settings(-values)?\\.ts$)',
    },
  },
  {
    name: 'deploy-and-management-are-apart',
    comment: 'The two scopes share only what is in http/ itself: move there what both need.',
    severity: 'error',
    from: { path: '^src/http/(wires/(?!playground)|management/)' },
    to: { path: '^src/http/(wires|management)/', pathNot: ['^src/http/$1', '^src/http/wires/'] },
  },
  {
    name: 'postgres-knows-no-table',
    comment:
      'persistence/postgres knows PostgreSQL but none of our tables. Code that knows a table belongs to replies/ or records/.',
    severity: 'error',
    from: { path: '^src/persistence/postgres/' },
    to: { path: '^src/', pathNot: '^src/(persistence/postgres|async)/' },
  },
  {
    name: 'replies-and-records-are-apart',
    comment:
      'Conversations and configuration change for different reasons. Code that needs both belongs to http or compose/, which pass one to the other.',
    severity: 'error',
    from: { path: '^src/persistence/(replies|records)/' },
    to: { path: '^src/persistence/(replies|records)/', pathNot: '^src/persistence/$1/' },
  },
  {
    name: 'settings-are-handed-in',
    comment:
      'Only main.ts, compose/app.ts and the command line read settings, and compose/start/start-fault.ts names them. Take the values you need as parameters; a type may be imported.',
    severity: 'error',
    from: { path: '^src/', pathNot: [process, '^src/compose/(app|start/start-fault)\\.ts$'] },
    to: { path: '^src/settings(-values)?\\.ts$', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'settings-know-no-room',
    comment:
      'Settings are read before anything else exists. A format that others parse too has one parser: password hashes in features/users/login/password.ts, roles in features/oidc/claims.ts, the Redis URL in coordination/redis/redis-address.ts, percent-encoding in untrusted/percent-encoded.ts.',
    severity: 'error',
    from: { path: '^src/settings(-values|-checks)?\\.ts$' },
    to: {
      path: '^src/',
      pathNot: [
        '^src/settings(-values|-checks)?\\.ts$',
        '^src/features/users/login/password\\.ts$',
        '^src/features/oidc/claims\\.ts$',
        '^src/coordination/redis/redis-address\\.ts$',
        '^src/untrusted/percent-encoded\\.ts$',
      ],
    },
  },
  {
    name: 'nothing-imports-compose',
    comment:
      'compose/ imports all modules: take what you need of it as a parameter. Only main.ts and tests import it, and the command line starts main.ts.',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/(main\\.ts$|cli/main\\.ts$|compose/)' },
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
      'Only tools/outbound*.ts connects to addresses given by callers: take an Outbound (or a ProviderFetch) as a parameter. persistence/postgres makes its own connections; http is the server.',
    severity: 'error',
    from: {
      path: '^src/',
      pathNot: [
        process,
        '^src/tools/outbound/(outbound|outbound-call|undici-parts|proxy/[^/]+)\\.ts$',
        '^src/http/',
        '^src/settings-checks\\.ts$',
        '^src/features/[^/]+/(routes|access|login)/',
        '^src/persistence/postgres/',
        '^src/observability/metrics-server\\.ts$',
      ],
    },
    to: {
      path: ['^(node:)?(http|https|http2|net|tls|dgram|dns)(/|$)', 'node_modules/undici/'],
      dependencyTypesNot: ['type-only'],
    },
  },
]
