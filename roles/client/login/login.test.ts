import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, systemRandom } from '@skerry/base'
import { clusterAccessResource, clusterResource } from '@skerry/fleet-kinds'
import { loginOffersPath } from '@skerry/gateway'
import { startTestIssuer, unpackClients, type TestIssuer } from '@skerry/testing'
import { startTestHub, type TestHub } from '../../../testing/scenes/test-fleet.ts'
import { getFromHub } from '../kubeconfig/ask-hub.ts'
import { currentTokens } from './credential.ts'
import { writeHubKubeconfig } from '../kubeconfig/hub-kubeconfig.ts'
import { logIn, logOut, loginForHub, type LoginOptions } from './login.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

/** Runs this program from its sources. */
const program = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, '../../../cmd/skerry.ts'),
]

interface Fleet extends AsyncDisposable {
  readonly hub: TestHub
  readonly issuer: TestIssuer
  readonly options: LoginOptions
  /** The directory XDG_CACHE_HOME, which holds the logins. */
  readonly cache: string
  readonly directory: string
  /** Logs in at the issuer with a browser; returns the messages on the way. */
  logIn(change?: Partial<LoginOptions>): Promise<string[]>
}

/** A hub with a cluster in the north, and an issuer where rita of the north can log in. */
async function startFleet(): Promise<Fleet> {
  await using stack = new AsyncDisposableStack()
  const issuer = stack.use(await startTestIssuer())
  issuer.setPerson({ sub: 'rita', groups: ['north'] })
  const cache = await mkdtemp(join(tmpdir(), 'skerry-login-'))
  stack.defer(() => rm(cache, { recursive: true }))
  const hub = stack.use(await startHubOf(issuer, cache))
  const directory = join(cache, 'skerry', 'login')
  const options = await loginOptions(hub, cache)
  const owned = stack.move()
  return {
    hub,
    issuer,
    options,
    cache,
    directory,
    async logIn(change = {}) {
      const told: string[] = []
      const visits: Promise<number>[] = []
      const tell = (text: string): void => void told.push(text)
      const open = (url: string): void => void visits.push(issuer.visit(url))
      await logIn({ ...options, ...change }, { directory, command: program, tell, open }, soon())
      await Promise.all(visits)
      return told
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function startHubOf({ url, ca, clientId }: TestIssuer, directory: string): Promise<TestHub> {
  const caFile = join(directory, 'issuer-ca.pem')
  await writeFile(caFile, ca)
  return startTestHub({
    access: {
      oidc: {
        issuerUrl: url,
        clientId,
        caFile,
        signingAlgs: 'ES256',
        usernamePrefix: 'id:',
        groupsClaim: 'groups',
        groupsPrefix: 'id:',
      },
    },
    login: { loginClientId: clientId, loginScope: ['groups'] },
  })
}

async function addNorth({ hub }: Fleet): Promise<void> {
  const metadata = { name: 'oslo', labels: { region: 'north' } }
  const apiVersion = 'cluster.karmada.io/v1alpha1'
  const cluster = { apiVersion, kind: 'Cluster', metadata, spec: { syncMode: 'Pull' as const } }
  await hub.admin.resource(clusterResource).create(cluster, soon())
  const access = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterAccess',
    metadata: { name: 'north' },
    spec: {
      subjects: [{ kind: 'Group', name: 'id:north', apiGroup: 'rbac.authorization.k8s.io' }],
      clusterSelector: { matchLabels: { region: 'north' } },
      verbs: ['get'],
    },
  }
  await hub.admin.resource(clusterAccessResource).create(access, soon())
}

async function loginOptions({ url, caPem }: TestHub, directory: string): Promise<LoginOptions> {
  const caFile = join(directory, 'hub-ca.pem')
  await writeFile(caFile, caPem)
  return {
    hub: url,
    caFile,
    issuer: undefined,
    clientId: undefined,
    issuerCaFile: undefined,
    scope: [],
    isDevice: false,
    port: 0,
    outputFile: join(directory, 'kube', 'config'),
    hostNames: undefined,
    prefix: '',
  }
}

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs an unmodified kubectl, which starts this program for its credentials. */
async function kubectl({ cache, options }: Fleet, ...args: string[]): Promise<Ended> {
  const { kubectl: command } = await unpackClients()
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const own = { HOME: cache, XDG_CACHE_HOME: cache, KUBECONFIG: options.outputFile }
  const env = { PATH, NODE_COMPILE_CACHE, ...own }
  return new Promise((resolve) => {
    execFile(command, args, { env }, (error, stdout, stderr) => {
      const exitCode = typeof error?.code === 'number' ? error.code : error ? 1 : 0
      resolve({ exitCode, stdout, stderr })
    })
  })
}

const whoami = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']

test('after one login kubectl reaches the hub and its clusters with tokens that renew themselves', async () => {
  await using fleet = await startFleet()
  await addNorth(fleet)
  const { issuer, options, directory } = fleet
  const told = await fleet.logIn()
  assert.match(told.join('\n'), /Logging in at https:\/\/127.* as client skerry, for https:\/\//)
  await endTokens(fleet)
  const first = await kubectl(fleet, ...whoami)
  assert.deepEqual([first.stdout, first.stderr], ['id:rita', ''])
  await endTokens(fleet)
  const oslo = await kubectl(fleet, '--context', 'oslo', 'get', '--raw', '/version')
  // The request was allowed; only the tunnel is missing.
  assert.match(oslo.stderr, /ServiceUnavailable|not connected|no tunnel/)
  assert.equal(issuer.grants['refresh_token'], 2)
  const text = await readFile(options.outputFile, 'utf8')
  // This version is also known to kubectl 1.20.
  assert.match(text, /apiVersion: client\.authentication\.k8s\.io\/v1beta1\n/)
  const path = await sessionFile(fleet)
  const kept = await readFile(path, 'utf8')
  const { tokens } = JSON.parse(kept)
  for (const secret of [tokens.idToken, tokens.refreshToken]) {
    assert.ok(secret.length > 10)
    assert.ok(!text.includes(secret) && !told.join().includes(secret))
  }
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal((await stat(directory)).mode & 0o777, 0o700)
})

test('an expired login says what to do, in kubectl too', async () => {
  await using fleet = await startFleet()
  const { hub, issuer, directory } = fleet
  await fleet.logIn()
  await endTokens(fleet)
  issuer.endLogins()
  const ended = await kubectl(fleet, ...whoami)
  assert.notEqual(ended.exitCode, 0)
  const advice = `it has ended (invalid_grant: the session is over); run "skerry login ${hub.url}"`
  assert.ok(ended.stderr.includes(advice), ended.stderr)
  await assert.rejects(currentTokensOf(fleet), /it was over before/)
  await fleet.logIn()
  await currentTokensOf(fleet)
  const [out] = await logOut(hub.url, directory, soon())
  assert.deepEqual(out, { issuer: issuer.url, hubs: [hub.url] })
  assert.deepEqual([...issuer.refreshTokens()], [])
  await assert.rejects(
    currentTokensOf(fleet),
    /nobody has logged in there; run "skerry login <hub>"/,
  )
  await assert.rejects(logOut(hub.url, directory, soon()), /nobody is logged in there/)
})

test('on a terminal an expired login starts again at once', async () => {
  await using fleet = await startFleet()
  const { issuer, directory } = fleet
  await fleet.logIn()
  await endTokens(fleet)
  issuer.endLogins()
  const visits: Promise<number>[] = []
  const tell = (text: string): void => {
    const [url] = /https:\/\/\S+\/authorize\S+/.exec(text) ?? []
    if (url !== undefined) visits.push(issuer.visit(url))
  }
  const options = { issuerUrl: issuer.url, clientId: issuer.clientId, directory }
  const deps = { clock: systemClock, random: systemRandom, tell }
  const { idToken } = await currentTokens({ ...options, isInteractive: true }, deps, soon())
  await Promise.all(visits)
  assert.equal((await currentTokensOf(fleet)).idToken, idToken)
  assert.equal(issuer.grants['authorization_code'], 2)
})

test('when many processes need a token at once, one of them refreshes it', async () => {
  await using fleet = await startFleet()
  await fleet.logIn()
  const { issuer } = fleet
  await endTokens(fleet)
  const answers = await Promise.all(Array.from({ length: 8 }, () => currentTokensOf(fleet)))
  assert.equal(issuer.grants['refresh_token'], 1)
  assert.equal(new Set(answers.map(({ idToken }) => idToken)).size, 1)
})

async function sessionFile({ directory }: Fleet): Promise<string> {
  const [name = ''] = (await readdir(directory)).filter((each) => each.endsWith('.json'))
  return join(directory, name)
}

/** Ends the tokens as if they had been issued an hour ago. */
async function endTokens(fleet: Fleet): Promise<void> {
  const path = await sessionFile(fleet)
  const session = JSON.parse(await readFile(path, 'utf8'))
  session.tokens.expiresAtMs = Date.now()
  await writeFile(path, JSON.stringify(session))
}

/** Returns the tokens as a process of kubectl would get them. */
function currentTokensOf({ issuer, directory }: Fleet) {
  return currentTokens(
    { issuerUrl: issuer.url, clientId: issuer.clientId, directory, isInteractive: false },
    { clock: systemClock, random: systemRandom, tell: assert.fail },
    soon(),
  )
}

test('a kubeconfig is written with the existing login', async () => {
  await using fleet = await startFleet()
  await addNorth(fleet)
  const { options, directory, hub } = fleet
  const noFiles = { tokenFile: undefined, clientCertificate: undefined, clientKey: undefined }
  const deps = { directory, command: program, tell: assert.fail }
  assert.equal(await loginForHub(hub.url, deps), undefined)
  await fleet.logIn({ prefix: 'work-' })
  const login = await loginForHub(hub.url, deps)
  const other = { ...options, ...noFiles, login, outputFile: join(fleet.cache, 'other') }
  const { contexts, users } = await writeHubKubeconfig(other, soon())
  assert.deepEqual(
    (contexts as { name: string }[]).map(({ name }) => name),
    ['hub', 'oslo'],
  )
  assert.match(JSON.stringify(users), /"credential","oidc","--issuer"/)
})

test('a hub says where to log in only if configured to, and then to anybody', async () => {
  await using fleet = await startFleet()
  const { url, ca, clientId } = fleet.issuer
  const hub = { hub: fleet.hub.url, ca: fleet.hub.caPem }
  const { status, text } = await getFromHub(hub, loginOffersPath, soon())
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(text), {
    issuers: [{ issuerUrl: url, clientId, scopes: ['groups'], certificateAuthority: ca }],
  })
  await assert.rejects(
    startTestHub({ login: { loginClientId: 'other' } }),
    /no issuer of --authentication-config or --oidc-issuer-url has this audience/,
  )
  await assert.rejects(
    startTestHub({ login: { loginScope: ['groups'] } }),
    /needs --login-client-id/,
  )
  await using silent = await startTestHub()
  const asked = { hub: silent.url, ca: silent.caPem }
  assert.equal((await getFromHub(asked, loginOffersPath, soon())).status, 403)
  const options = await loginOptions(silent, silent.directory)
  const deps = { directory: fleet.directory, command: program, tell: assert.fail }
  await assert.rejects(
    logIn(options, deps, soon()),
    /does not say where \(403\); pass --issuer and --client-id/,
  )
})

test("a hub that names another hub's client gets no token that is valid there", async () => {
  await using fleet = await startFleet()
  await fleet.logIn()
  await using second = await startHubOf(fleet.issuer, fleet.cache)
  const other = await loginOptions(second, second.directory)
  const { length } = fleet.issuer.authorizations
  await assert.rejects(fleet.logIn(other), /so it would get tokens that are good there/)
  assert.equal(fleet.issuer.authorizations.length, length)
  // A person who names the client knows whose fleet it is.
  const { url: issuer, clientId } = fleet.issuer
  const issuerCaFile = join(fleet.cache, 'issuer-ca.pem')
  await fleet.logIn({ ...other, issuer, clientId, issuerCaFile })
})
