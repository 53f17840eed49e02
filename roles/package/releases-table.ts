/** The releases of Debian and Ubuntu for which packages can be collected, by ID and VERSION_ID of /etc/os-release. */
export interface ReleaseSource {
  /** The suites of the archive, and those of the archive of security updates. */
  readonly suites: { readonly archive: readonly string[]; readonly security: readonly string[] }
  readonly components: string
  readonly mirror: string
  readonly securityMirror: string
  /** The mirror of architectures that the first one does not have. */
  readonly portsMirror?: string
  readonly keyring: string
  /** The Debian package that brings the keyring. */
  readonly keyringPackage: string
}

const debian = {
  components: 'main',
  mirror: 'http://deb.debian.org/debian',
  securityMirror: 'http://deb.debian.org/debian-security',
  keyring: '/usr/share/keyrings/debian-archive-keyring.gpg',
  keyringPackage: 'debian-archive-keyring',
}

const ubuntu = {
  components: 'main universe',
  mirror: 'http://archive.ubuntu.com/ubuntu',
  securityMirror: 'http://security.ubuntu.com/ubuntu',
  portsMirror: 'http://ports.ubuntu.com/ubuntu-ports',
  keyring: '/usr/share/keyrings/ubuntu-archive-keyring.gpg',
  keyringPackage: 'ubuntu-keyring',
}

function suitesOf(name: string): ReleaseSource['suites'] {
  return { archive: [name, `${name}-updates`], security: [`${name}-security`] }
}

export const releaseSources: Readonly<Record<string, ReleaseSource>> = Object.freeze({
  'debian-12': { ...debian, suites: suitesOf('bookworm') },
  'debian-13': { ...debian, suites: suitesOf('trixie') },
  'ubuntu-22.04': { ...ubuntu, suites: suitesOf('jammy') },
  'ubuntu-24.04': { ...ubuntu, suites: suitesOf('noble') },
})

/** The libraries without which the program's engine does not start; the program itself names everything else. */
export const engineLibraries: readonly string[] = ['libatomic1', 'libstdc++6']

/** The release whose etcd is taken for machines of every release. */
export const etcdRelease = 'debian-13'
