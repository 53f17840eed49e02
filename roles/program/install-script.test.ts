import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { systemClock } from '@skerry/base'
import { createAuthority } from '@skerry/pki'
import { startTestProxy } from '@skerry/testing'
import { installScript, type MachineProgram, type ScriptPackage } from './install-script.ts'

const execute = promisify(execFile)

/** The programs that the script needs, all of them of packages that every Debian has. */
const needed = `cat chmod cut df dirname grep gzip mkdir mv od rm sed sha256sum sleep stat sync tail tar tr uname`

let directory: string
let server: Server
let url: string
let answer: RequestListener
const asked: { path: string; range: string | undefined }[] = []

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-install-'))
  for (const way of ['curl', 'apt']) {
    await mkdir(join(directory, way))
    for (const name of [...needed.split(' '), ...(way === 'curl' ? [way] : [])]) {
      const { stdout } = await execute('sh', ['-c', 'command -v "$1"', 'sh', name])
      await symlink(stdout.trim(), join(directory, way, name))
    }
  }
  const dates = { notBeforeMs: systemClock.now() - 60_000, notAfterMs: systemClock.now() + 600_000 }
  const authority = await createAuthority({ subject: { commonName: 'nobody' }, ...dates })
  const tls = { cert: authority.certificatePem, key: authority.privateKeyPem }
  server = createServer(tls, (request, response) => {
    asked.push({ path: request.url ?? '', range: request.headers.range })
    response.on('error', () => undefined)
    answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  url = `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(() => asked.splice(0))

const sha256Of = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly way?: string
  readonly programs?: MachineProgram[]
  readonly offline?: ScriptPackage
}

/** Runs commands after the definitions of the script, without its last line, in a directory of their own. */
async function run(
  home: string,
  commands: string,
  { way = 'apt', programs = [], offline }: RunOptions = {},
): Promise<Ran> {
  const definitions = installScript(programs, offline).replace(/main "\$@"\n$/, '')
  const places = `programs=${home}; work=${home}/download; launcher=${home}/skerry; server=${url}`
  const text = `${definitions}\n${places}\nmkdir -p "$work"\n${commands}`
  const env = { PATH: join(directory, way) }
  return shell(['-c', text], env)
}

async function shell(args: string[], env: Record<string, string>): Promise<Ran> {
  try {
    const { stdout, stderr } = await execute('/bin/sh', args, { env, timeout: 60_000 })
    return { exitCode: 0, stdout, stderr }
  } catch (error) {
    // An error of execFile has the outputs and the exit code.
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { exitCode: code, stdout, stderr }
  }
}

const newHome = (): Promise<string> => mkdtemp(join(directory, 'home-'))

/** Serves a content, and breaks the connection off after each of these numbers of bytes. */
function serve(content: Buffer, breaks: number[] = []): void {
  answer = (request, response) => {
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const range = { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }
    const length = { 'content-length': content.length - start }
    response.writeHead(start > 0 ? 206 : 200, { ...length, ...(start > 0 ? range : {}) })
    const bytes = breaks.shift()
    if (bytes === undefined) response.end(content.subarray(start))
    else response.write(content.subarray(start, start + bytes), () => response.socket?.end())
  }
}

for (const way of ['curl', 'apt']) {
  test(`a download that breaks off continues where it ended, by ${way}`, async () => {
    const content = randomBytes(3_000_000)
    const home = await newHome()
    serve(content, [1_000_000, 500_000])
    const sha256 = sha256Of(content)
    const { exitCode, stdout, stderr } = await run(home, `download ${sha256} ${content.length}`, {
      way,
    })
    assert.equal(exitCode, 0, stderr)
    assert.match(stdout, /ended after \d+ of 3000000 bytes; it continues/)
    assert.ok((await readFile(join(home, 'download', sha256))).equals(content))
    const starts = asked.map(({ range }) => Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0))
    assert.equal(starts[0], 0)
    assert.ok(starts.length > 1 && starts.slice(1).every((start) => start > 0), starts.join(' '))
  })

  test(`a part that a power cut has damaged is fetched again, by ${way}`, async () => {
    const content = randomBytes(300_000)
    const home = await newHome()
    serve(content)
    const sha256 = sha256Of(content)
    for (const bytes of [100_000, content.length]) {
      await mkdir(join(home, 'download'), { recursive: true })
      await writeFile(join(home, 'download', sha256), Buffer.alloc(bytes))
      const { exitCode, stderr } = await run(home, `download ${sha256} ${content.length}`, { way })
      assert.equal(exitCode, 0, stderr)
      assert.ok((await readFile(join(home, 'download', sha256))).equals(content))
    }
  })

  test(`other content than the hash says is refused and removed, by ${way}`, async () => {
    const content = randomBytes(100_000)
    const home = await newHome()
    serve(content)
    const { exitCode, stderr } = await run(home, `download ${'0'.repeat(64)} 100000; echo used`, {
      way,
    })
    assert.equal(exitCode, 1)
    assert.match(stderr, /is another one than when the line was made, and was not used/)
    assert.deepEqual(await readdir(join(home, 'download')), ['output'])
  })

  test(`a server that sends without an end fills no disk, by ${way}`, async () => {
    const home = await newHome()
    const piece = Buffer.alloc(100_000)
    let sent = 0
    answer = (_request, response) => {
      response.writeHead(200)
      const more = (): void => {
        let takesMore = true
        while (takesMore && !response.destroyed) {
          takesMore = response.write(piece)
          sent += piece.length
        }
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    const { exitCode, stderr } = await run(home, `download ${'0'.repeat(64)} 200000`, { way })
    assert.equal(exitCode, 1, stderr)
    assert.match(stderr, /was not used/)
    assert.ok(sent < 50_000_000, String(sent))
  })

  test(`a token that the server does not know is named before anything else is asked, by ${way}`, async () => {
    const home = await newHome()
    serve(Buffer.from('{"data":{"jws-kubeconfig-abcdef":"x..y"}}'))
    const known = await run(home, 'token=abcdef.0123456789abcdef; check_token', { way })
    assert.equal(known.exitCode, 0, known.stderr)
    const other = await run(home, 'token=fedcba.0123456789abcdef; check_token', { way })
    assert.equal(other.exitCode, 1)
    assert.match(other.stderr, /token fedcba is unknown at \S+ or expired: make a new line there/)
    assert.ok(asked.every(({ path }) => path.endsWith('/configmaps/cluster-info')))
  })
}

/** A program of an engine and an archive, and the files that a server has of it. */
async function makeProgram(home: string): Promise<[MachineProgram, Map<string, Buffer>]> {
  const engine = '#!/bin/sh\necho engine\n'
  const source = await newHome()
  await writeFile(join(source, 'skerry.mjs'), '// the program')
  await execute('tar', ['-czf', join(source, 'a.tar.gz'), '-C', source, 'skerry.mjs'])
  const contents = [gzipSync(engine), await readFile(join(source, 'a.tar.gz'))]
  const [packed, archive] = contents.map((content) => ({
    path: '',
    bytes: content.length,
    sha256: sha256Of(content),
  }))
  assert.ok(packed && archive)
  const program: MachineProgram = {
    architecture: 'x86_64',
    directory: `${home}/1.0`,
    files: [{ ...packed, to: `${home}/engine`, mode: 0o755 }],
    archive,
    launcher: `#!/bin/sh\nexec ${home}/engine "$@" # $HOME \`id\` 'quoted'\n`,
  }
  return [program, new Map(contents.map((content) => [sha256Of(content), content]))]
}

test('a program is put together of its files, and a second time nothing is fetched', async () => {
  const home = await newHome()
  const [program, files] = await makeProgram(home)
  answer = ({ url: path }, response) => response.end(files.get(path?.slice(-64) ?? ''))
  const first = await run(home, 'program_x86_64', { programs: [program] })
  assert.equal(first.exitCode, 0, first.stderr)
  assert.equal(asked.length, 2)
  assert.equal(await readFile(join(home, 'skerry'), 'utf8'), program.launcher)
  assert.equal((await stat(join(home, 'engine'))).mode & 0o777, 0o755)
  assert.equal(await readFile(join(home, '1.0', 'skerry.mjs'), 'utf8'), '// the program')
  const second = await run(home, 'program_x86_64', { programs: [program] })
  assert.equal(second.exitCode, 0, second.stderr)
  assert.equal(asked.length, 2)
  assert.deepEqual((await readdir(home)).toSorted(), ['1.0', 'download', 'engine', 'skerry'])
})

test('of a changed archive nothing is unpacked', async () => {
  const home = await newHome()
  const [program, files] = await makeProgram(home)
  answer = ({ url: path }, response) => {
    const sha256 = path?.slice(-64) ?? ''
    const content = Buffer.from(files.get(sha256) ?? [])
    if (sha256 === program.archive?.sha256) content[20] = (content[20] ?? 0) ^ 1
    response.end(content)
  }
  const { exitCode } = await run(home, 'program_x86_64', { programs: [program] })
  assert.equal(exitCode, 1)
  assert.deepEqual((await readdir(home)).toSorted(), ['download', 'engine'])
})

test('a script that was cut anywhere before its end does nothing', async () => {
  const [program] = await makeProgram('/nowhere')
  const script = installScript([program])
  const path = join(await newHome(), 'script')
  const end = script.length - 'main "$@"\n'.length
  for (let length = 1; length <= end; length += 97) {
    await writeFile(path, script.slice(0, length))
    const args = [path, 'node', '--server', url, '--ca-hash', 'sha256:x']
    const { stdout, stderr } = await shell(args, { PATH: '/nowhere' })
    assert.equal(stdout, '')
    assert.doesNotMatch(stderr, /Cannot join/, `${length} of ${script.length} characters`)
  }
})

test('a call without a role, a server or a token says what is missing', async () => {
  const table = [
    ['main', /run it as/],
    ['main boss', /run it as/],
    ['server=; main node --ca-hash x', /--server https:\/\/… is missing/],
    ['main node --server http://plain', /--server https:\/\/… is missing/],
    ['read_token </dev/null', /the token is missing/],
    ['echo "no; token" | read_token', /has no token/],
    ['echo abc | read_token', /has no token/],
    ['echo a.b.c | read_token', /has no token/],
  ] as const
  const home = await newHome()
  for (const [commands, why] of table) {
    const { exitCode, stderr } = await run(home, commands)
    assert.equal(exitCode, 1, commands)
    assert.match(stderr, why)
  }
  assert.deepEqual(asked, [])
})

for (const way of ['curl', 'apt']) {
  test(`a hub behind a proxy is asked through it, whatever its password has in it, by ${way}`, async () => {
    const login = `ol ga:p:%4@"s'$(id)\`é\\`
    await using proxy = await startTestProxy({ login })
    const content = randomBytes(100_000)
    const home = await newHome()
    serve(content)
    await writeFile(join(home, 'login'), `${login}\r\n`)
    const set = `credentials=${home}/login; proxy=${proxy.url}; has_login=yes; use_proxy`
    const commands = `${set}; download ${sha256Of(content)} ${content.length}`
    const { exitCode, stderr } = await run(home, commands, { way })
    assert.equal(exitCode, 0, stderr)
    assert.ok(proxy.asked.length >= 1 && asked.length >= 1)
    assert.ok(proxy.asked.every((host) => host === new URL(url).host))
  })
}

test('the words of a line set the proxy, and a login that is not there is asked for', async () => {
  const home = await newHome()
  const show = 'use_proxy() { echo "$proxy|$has_login|$direct"; exit 3; }; id() { echo 0; }'
  const without = 'check_machine() { :; }; read_token() { :; }; flock() { :; }'
  const words = `--server ${url} --proxy http://p:1/ --direct a.b --proxy-credentials --direct c`
  const shown = await run(home, `${show}; ${without}; main site ${words} -- --proxy http://other`)
  assert.equal(shown.stdout, 'http://p:1|yes|,a.b,c\n', shown.stderr)
  const missing = await run(
    home,
    `credentials=${home}/no; proxy=http://p:1; has_login=1; use_proxy`,
  )
  assert.equal(missing.exitCode, 1)
  assert.match(missing.stderr, /write user:password of the proxy into \S+ first/)
  const wrong = await run(home, `${without}; main site --server ${url} --proxy socks://p`)
  assert.match(wrong.stderr, /--proxy is http:/)
})

/** A package with one library for one system. */
function packageWith(library: Buffer, release = 'debian-12'): ScriptPackage {
  const file = { sha256: sha256Of(library), bytes: library.length }
  const version = '1:12.2.0-14+deb12u1~a'
  const libraries = [{ name: 'libatomic1', version, architecture: 'amd64' as const, file }]
  return {
    digest: `sha256:${'a'.repeat(64)}`,
    systems: [{ release, architecture: 'x86_64', libraries }],
  }
}

/** Runs the line of the script for the library, on a machine whose dpkg-query prints this. */
async function fetchLibrary(
  home: string,
  offline: ScriptPackage,
  { installed, way }: { readonly installed: string; readonly way: string },
): Promise<Ran> {
  const [line] = /^ +library 'libatomic1' .*$/m.exec(installScript([], offline)) ?? []
  assert.ok(line !== undefined)
  await mkdir(join(home, 'bin'), { recursive: true })
  const query = `#!/bin/sh\nprintf '%s' '${installed}'\n`
  await writeFile(join(home, 'bin', 'dpkg-query'), query, { mode: 0o755 })
  const commands = `PATH="${home}/bin:$PATH"; :>"$work/libraries"; ${line}`
  return run(home, `${commands}\ncat "$work/libraries"`, { way, offline })
}

for (const way of ['curl', 'apt']) {
  test(`a library of a package is fetched unless this version of it is installed, by ${way}`, async () => {
    const library = randomBytes(50_000)
    const offline = packageWith(library)
    const home = await newHome()
    serve(library)
    const there = await fetchLibrary(home, offline, {
      installed: 'installed 1:12.2.0-14+deb12u1~a',
      way,
    })
    assert.deepEqual([there.exitCode, there.stdout, asked.length], [0, '', 0], there.stderr)
    const older = await fetchLibrary(home, offline, { installed: 'installed 1:12.2.0-1', way })
    assert.equal(older.exitCode, 0, older.stderr)
    const sha256 = sha256Of(library)
    assert.ok(older.stdout.endsWith(`${sha256}\n`), older.stdout)
    assert.ok((await readFile(join(home, 'download', sha256))).equals(library))
    const path = `/skerry/package/${'a'.repeat(64)}/library-${sha256}`
    assert.deepEqual([...new Set(asked.map((each) => each.path))], [path])
  })

  test(`a library that was changed, and one that the server has not kept, are named at once, by ${way}`, async () => {
    const library = randomBytes(50_000)
    const offline = packageWith(library)
    const home = await newHome()
    serve(Buffer.alloc(50_000))
    const changed = await fetchLibrary(home, offline, { installed: '', way })
    assert.equal(changed.exitCode, 1)
    assert.match(changed.stderr, /was not used/)
    answer = (_request, response) => response.writeHead(404).end()
    const gone = await fetchLibrary(home, offline, { installed: '', way })
    assert.equal(gone.exitCode, 1)
    assert.match(gone.stderr, /has not kept a file of its package .*404.*: start it with --package/)
    assert.deepEqual(await readdir(join(home, 'download')), ['libraries', 'output'])
  })
}

test('if the package has nothing for the system of a machine, the error names those for which it has', async () => {
  const home = await newHome()
  const offline = packageWith(Buffer.from('x'), 'debian-99')
  const { exitCode, stderr } = await run(home, 'install_libraries', { offline })
  assert.equal(exitCode, 1)
  assert.match(stderr, /has nothing for \S+ on \S+, only for debian-99 on x86_64: make another one/)
  assert.deepEqual(asked, [])
})

test('the script of a package stays within the size that a line takes, for as many systems as one may have', () => {
  const [system] = packageWith(Buffer.from('x')).systems
  assert.ok(system)
  const [library] = system.libraries
  assert.ok(library)
  const libraries = Array.from({ length: 4 }, () => library)
  const systems = Array.from({ length: 16 }, () => ({ ...system, libraries }))
  const script = installScript([], { digest: `sha256:${'a'.repeat(64)}`, systems })
  assert.ok(script.length < 50_000, String(script.length))
})
