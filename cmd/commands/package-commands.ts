import { homedir } from 'node:os'
import { join } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import type { Architecture } from '@skerry/offline-package'
import type { CreatePackageOptions } from '../../roles/package/create-package.ts'
import { collect, example, toJson } from '../flags/option-values.ts'
import {
  machineProgramsOf,
  withMachinePrograms,
  type MachineProgramFlags,
} from '../flags/machine-program-flags.ts'

/** Adds the commands for offline packages, of which a hub makes clusters of machines without mirrors. */
export function addPackageCommands(program: Command): void {
  const offline = program
    .command('package')
    .description('Make and check packages for machines that reach nothing but the hub')
  addKey(offline)
  addCreate(offline)
  addShow(offline)
  addVerify(offline)
}

function addKey(offline: Command): void {
  offline
    .command('key')
    .description('Make the key pair with which packages are signed: <path>.key and <path>.pub')
    .option('--output <path>', 'path without its ending', 'operator')
    .addHelpText('after', example('skerry package key --output operator'))
    .action(async ({ output }: { output: string }) => {
      const { writeOperatorKey } = await import('../../roles/package/operator-key-files.ts')
      for (const path of await writeOperatorKey(output)) console.log(path)
    })
}

interface CreateFlags extends MachineProgramFlags {
  key: string
  output: string
  release: string[]
  architecture: Architecture[]
  image: string[]
  imageRef: string[]
  etcd: boolean
  cacheDir: string
  mirror: Record<string, string>
  securityMirror: Record<string, string>
  keyring: Record<string, string>
}

function addCreate(offline: Command): void {
  withMachinePrograms(offline.command('create'))
    .description('Collect the program, system packages with all they need, and images; sign them')
    .requiredOption('--key <path>', 'private key of the operator, from "skerry package key"')
    .requiredOption('--output <directory>', 'the new package; it must not exist, or be empty')
    .option(
      '--release <name>',
      'system of the machines: debian-12, debian-13, ubuntu-22.04 or ubuntu-24.04 (repeatable)',
      collect,
      [],
    )
    .option(
      '--architecture <name>',
      'x86_64 or aarch64 (repeatable; default: that of this machine)',
      collectArchitecture,
      [],
    )
    .option('--image <archive>', 'OCI layout or "docker save" archive (repeatable)', collect, [])
    .option('--image-ref <name>', 'image to pull with skopeo (repeatable)', collect, [])
    .option('--etcd', 'add the etcd that several masters, and witnesses, run', false)
    .option(
      '--cache-dir <path>',
      'directory that keeps downloads for the next package',
      join(homedir(), '.cache', 'skerry', 'package'),
    )
    .option(
      '--mirror <release=url>',
      'other place of the archive (repeatable)',
      collectByRelease,
      {},
    )
    .option(
      '--security-mirror <release=url>',
      'other place of its security updates (repeatable)',
      collectByRelease,
      {},
    )
    .option(
      '--keyring <release=path>',
      "keys of the archive (repeatable; default: that of the system's package)",
      collectByRelease,
      {},
    )
    .addHelpText('after', createHelp)
    .action(async (flags: CreateFlags) => {
      const { createPackage } = await import('../../roles/package/create-package.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const { systemClock, systemRandom } = await import('@skerry/base')
      const options = await createOptionsOf(flags)
      const print = (line: string): void => console.error(line)
      const deps = { clock: systemClock, random: systemRandom, print }
      console.log(await createPackage(options, deps, stopSignal()))
    })
}

const createHelp = `
It needs a machine with apt and a way to the mirrors, and no root. apt checks the signatures of the archives: for
Ubuntu on a Debian machine install ubuntu-keyring or name a keyring. The same inputs give the same package.
The last line is its digest, for spec.package.digest of an EdgeCluster.
${example(
  'skerry package create --key operator.key --release debian-12 --image app.tar --output branch.skerry',
  'skerry package create --key operator.key --release debian-12 --release ubuntu-24.04 --architecture x86_64 --architecture aarch64 --machine-program aarch64=skerry-aarch64 --output branch.skerry',
)}`

async function createOptionsOf(flags: CreateFlags): Promise<CreatePackageOptions> {
  const own = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const { architecture, mirror, securityMirror, keyring } = flags
  return {
    keyFile: flags.key,
    output: flags.output,
    releases: flags.release,
    hasEtcd: flags.etcd,
    architectures: architecture.length === 0 ? [own] : architecture,
    programs: await machineProgramsOf(flags),
    images: flags.image,
    imageRefs: flags.imageRef,
    cacheDirectory: flags.cacheDir,
    places: { mirror, securityMirror, keyring },
  }
}

function collectArchitecture(text: string, previous: Architecture[]): Architecture[] {
  if (text !== 'x86_64' && text !== 'aarch64') {
    throw new InvalidArgumentError('use x86_64 or aarch64')
  }
  return previous.includes(text) ? previous : [...previous, text]
}

/** Collects values of the form release=value. */
function collectByRelease(text: string, previous: Record<string, string>): Record<string, string> {
  const [, release, value] = /^([a-z]+-[\d.]+)=(\S+)$/.exec(text) ?? []
  if (release === undefined || value === undefined) {
    throw new InvalidArgumentError(
      'write <release>=<value>, such as debian-12=http://mirror/debian',
    )
  }
  return { ...previous, [release]: value }
}

function addShow(offline: Command): void {
  offline
    .command('show')
    .description('Show the contents that a package declares; "verify" checks them')
    .argument('<directory>')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry package show branch.skerry'))
    .action(async (directory: string, { output }: { output: string | undefined }) => {
      const { readPackage } = await import('../../roles/package/show-package.ts')
      const { printPackage } = await import('../../roles/client/package-text.ts')
      printPackage(await readPackage(directory), output)
    })
}

interface VerifyFlags {
  publicKey: string
  output: string | undefined
}

function addVerify(offline: Command): void {
  offline
    .command('verify')
    .description('Check the signature of a package, every file of it, and that there is no other')
    .argument('<directory>')
    .requiredOption('--public-key <path>', 'public key of the operator')
    .option('-o, --output <format>', 'output format: json', toJson)
    .addHelpText('after', example('skerry package verify branch.skerry --public-key operator.pub'))
    .action(async (directory: string, { publicKey, output }: VerifyFlags) => {
      const { verifyPackage } = await import('../../roles/package/show-package.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const { printPackage } = await import('../../roles/client/package-text.ts')
      printPackage(await verifyPackage(directory, publicKey, stopSignal()), output)
    })
}
