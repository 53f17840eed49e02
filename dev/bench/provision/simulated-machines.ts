import { createHash } from 'node:crypto'
import ssh2, { type Connection, type ServerChannel, type SFTPWrapper } from 'ssh2'

const { Server, utils } = ssh2

/** Machines that exist only as answers: SSH with SFTP that keeps files in memory, and results of the steps' commands. */
export interface SimulatedMachines extends AsyncDisposable {
  /** The port on loopback. Each connection is another machine. */
  readonly port: number
}

export async function startSimulatedMachines(): Promise<SimulatedMachines> {
  const clients = new Set<Connection>()
  const hostKeys = [utils.generateKeyPairSync('ed25519').private]
  const server = new Server({ hostKeys }, (client) => {
    clients.add(client)
    client.on('error', () => undefined)
    client.on('close', () => clients.delete(client))
    client.on('authentication', (context) => {
      serveMachine(client, context.username)
      context.accept()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.end()
      server.close()
    },
  }
}

interface Machine {
  readonly name: string
  readonly files: Map<string, Buffer>
}

function serveMachine(client: Connection, name: string): void {
  const files: Machine['files'] = new Map()
  client.on('session', (accept) => {
    const session = accept()
    session.on('sftp', (acceptSftp) => serveFiles(acceptSftp(), files))
    session.on('exec', (acceptExec, _refuse, { command }) =>
      runCommand(acceptExec(), command, { name, files }),
    )
  })
}

const [ok, eof, missing] = [0, 1, 2]

function serveFiles(sftp: SFTPWrapper, files: Machine['files']): void {
  const open = new Map<string, string>()
  let opened = 0
  const yes = (id: number): void => sftp.status(id, ok)
  const pathOf = (handle: Buffer): string => open.get(handle.toString()) ?? ''
  sftp.on('MKDIR', yes).on('RMDIR', yes).on('SETSTAT', yes).on('FSETSTAT', yes)
  sftp.on('OPEN', (id, path) => {
    opened += 1
    open.set(String(opened), path)
    files.set(path, Buffer.from(new ArrayBuffer(0)))
    sftp.handle(id, Buffer.from(String(opened)))
  })
  sftp.on('WRITE', (id, handle, offset, data) => {
    const path = pathOf(handle)
    files.set(path, written(files.get(path) ?? Buffer.from(new ArrayBuffer(0)), offset, data))
    yes(id)
  })
  sftp.on('CLOSE', yes)
  sftp.on('REMOVE', (id, path) => sftp.status(id, files.delete(path) ? ok : missing))
  sftp.on('OPENDIR', (id) => sftp.handle(id, Buffer.from('directory')))
  sftp.on('READDIR', (id) => sftp.status(id, eof))
  const stat = (id: number, path: string): void => {
    const size = files.get(path)?.length
    if (size === undefined) return sftp.status(id, missing)
    sftp.attrs(id, { mode: 0o600, uid: 0, gid: 0, size, atime: 0, mtime: 0 })
  }
  sftp.on('STAT', stat).on('LSTAT', stat)
  sftp.on('FSTAT', (id, handle) => stat(id, pathOf(handle)))
}

/** Several pieces are on their way at a time, and a later one may arrive before the rest of an earlier one. */
function written(content: Buffer, offset: number, data: Buffer): Buffer {
  const length = Math.max(content.length, offset + data.length)
  const isRoomy = content.byteOffset + length <= content.buffer.byteLength
  const room = isRoomy ? content.buffer : new ArrayBuffer(2 * length)
  const next = Buffer.from(room, isRoomy ? content.byteOffset : 0, length)
  if (!isRoomy) content.copy(next)
  data.copy(next, offset)
  return next
}

/** Answers the line with which the hub starts its script: run <number> <directory> <seconds, end or stay>. */
function runCommand(channel: ServerChannel, line: string, { name, files }: Machine): void {
  const [, number = '', directory = '', last = ''] = /run (\d+) (\S+) (\w+)$/.exec(line) ?? []
  const input: Buffer[] = []
  channel.on('error', () => undefined)
  channel.on('data', (chunk: Buffer) => input.push(chunk))
  channel.on('end', () => {
    const words = (files.get(`${directory}/args-${number}`) ?? Buffer.alloc(0))
      .toString()
      .split('\0')
    const isCommand = /^\d+$/.test(last)
    const { code = 0, stdout = '' } = isCommand
      ? answerTo(words.slice(0, -1), Buffer.concat(input), { name, files })
      : {}
    channel.write(stdout)
    channel.exit(code)
    channel.end()
  })
}

interface Answer {
  readonly code?: number
  readonly stdout?: string
}

function answerTo(words: readonly string[], input: Buffer, { name, files }: Machine): Answer {
  const [program = '', ...rest] = words
  const last = words.at(-1) ?? ''
  switch (program) {
    case 'id':
      return { stdout: '0\n' }
    case 'uname':
      return { stdout: last === '-m' ? `${architecture}\n` : `${name}\n` }
    case 'ip':
      return { stdout: JSON.stringify([{ ifname: 'eth0', addr_info: [{ local: '10.99.0.1' }] }]) }
    case 'sh':
      return { stdout: facts(name) }
    case 'sha256sum':
      return digest(files.get(last), last)
    case 'install':
      if (rest.includes('-d')) return {}
      files.set(
        last,
        rest.includes('/dev/stdin') ? input : (files.get(words.at(-2) ?? '') ?? input),
      )
      return {}
    case 'rm':
      files.delete(last)
      return {}
    case 'mv':
      files.set(last, files.get(words.at(-2) ?? '') ?? Buffer.alloc(0))
      return {}
    case '/usr/local/bin/skerry':
      return ofProgram(rest)
    default:
      return {}
  }
}

const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

function digest(content: Buffer | undefined, path: string): Answer {
  if (content === undefined) return { code: 1 }
  return { stdout: `${createHash('sha256').update(content).digest('hex')}  ${path}\n` }
}

function ofProgram([verb = '']: readonly string[]): Answer {
  if (verb === '--version') return { stdout: '0.1.0\n' }
  const token = { token: 'abcdef.0123456789abcdef', caHash: `sha256:${'0'.repeat(64)}` }
  return verb === 'token' ? { stdout: JSON.stringify(token) } : {}
}

function facts(name: string): string {
  const lines = {
    os: 'debian 12',
    architecture,
    kernel: '6.1.0-18-amd64',
    host: name,
    'machine-id': name,
    time: String(Math.floor(Date.now() / 1_000)),
    cgroup: 'cgroup2fs',
    processors: '2',
    memory: '2048000',
    disk: '9000000',
    init: 'systemd',
    packages: 'apt',
  }
  const text = Object.entries(lines).map(([name, value]) => `${name} ${value}\n`)
  return `${text.join('')}module overlay\nmodule br_netfilter\n`
}
