import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aptSettings, aptTargets, hostSuite, until } from '@skerry/testing'
import { fetchEmulator, isThere } from '../other-architecture/foreign-program.ts'

/** A server on which nothing but an administrator has installed anything, and what sets its address. */
const packages = `systemd-sysv dbus openssh-server sudo udev iproute2 kmod`.split(' ')

/** Runs in the new root. Each machine makes its own host key. */
const customize = `set -e
rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/apt/apt.conf.d/99mmdebstrap
chroot "$1" systemctl disable apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer
`

/** The first bytes of a program for aarch64, and which of their bits count (ELF, e_machine 183). */
const programHead = String.raw`\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`
const headMask = String.raw`\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff`

/**
 * The kernel of a user namespace of its own learns which emulator starts programs for aarch64, so that nothing is
 * registered for the rest of the host.
 */
const registering = `set -e
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
printf %s "$RULE" > /proc/sys/fs/binfmt_misc/register
exec "$@"
`

/**
 * Returns a root directory of the host's own release for aarch64, which nobody may change. It is made once, in some
 * minutes, because the scripts of its packages run on an emulated processor.
 */
export async function foreignRoot(): Promise<string> {
  const suite = await hostSuite()
  const parts = JSON.stringify([suite, packages, customize])
  const hash = createHash('sha256').update(parts).digest('hex').slice(0, 12)
  const directory = join(tmpdir(), `skerry-foreign-root-${hash}`)
  const root = join(directory, 'root')
  if (await isThere(root)) return root
  const part = await mkdtemp(join(tmpdir(), 'skerry-foreign-part-'))
  try {
    const words = [`--include=${packages.join(',')}`, `--customize-hook=${customize}`]
    await bootstrap(['--variant=apt', '--skip=check/qemu', ...words], join(part, 'root'), {
      RULE: `:aarch64:M::${programHead}:${headMask}:${await fetchEmulator()}:F`,
    })
    await rename(part, directory)
  } catch (error) {
    await rm(part, { recursive: true, force: true })
    throw error
  }
  return root
}

/** Unpacks packages for aarch64, with what they depend on, into a directory. None of their programs is started. */
export async function unpackForeign(names: readonly string[], directory: string): Promise<void> {
  await bootstrap(['--variant=extract', `--include=${names.join(',')}`], directory)
}

/** Runs mmdebstrap, in a user namespace if there is a rule for its kernel. */
async function bootstrap(
  words: readonly string[],
  directory: string,
  rule?: { readonly RULE: string },
): Promise<void> {
  const suite = await hostSuite()
  const settings = [...(await aptSettings())].map(([name, value]) => `--aptopt=${name} "${value}";`)
  const sources = (await aptTargets(suite)).map(
    ({ url, release, component }) => `deb ${url} ${release} ${component}`,
  )
  const common = ['--quiet', '--mode=root', '--architectures=arm64', ...settings]
  const command = ['mmdebstrap', ...common, ...words, suite, directory, ...sources]
  if (rule === undefined) return runToEnd(command)
  const unshare = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const inside = [...unshare, 'sh', '-c', registering, 'sh', ...command]
  // Programs that are started before the namespace knows its users have no rights in it.
  await runToEnd(
    ['unshare', '--user', 'sh', '-c', 'read -r _; exec "$@"', 'sh', ...inside],
    rule,
    async (pid) => {
      // A new namespace knows no user.
      await until(async () => (await readFile(`/proc/${pid}/uid_map`, 'utf8')) === '')
      for (const name of ['uid_map', 'gid_map']) {
        await writeFile(`/proc/${pid}/${name}`, '0 0 65536\n')
      }
    },
  )
}

async function runToEnd(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
  beforeInput: (pid: number) => Promise<void> = async () => undefined,
): Promise<void> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'close')
  const words = Array.fromAsync(child.stderr, String)
  await once(child, 'spawn')
  if (child.pid !== undefined) await beforeInput(child.pid)
  child.stdin.end('\n')
  const [code] = await ended
  if (code === 0) return
  const text = (await words).join('').slice(-2_000)
  throw new Error(`Cannot make a root of aarch64: mmdebstrap ended with ${code}: ${text}`)
}
