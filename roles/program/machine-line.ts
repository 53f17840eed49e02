import { createHash } from 'node:crypto'
import { ExpectedError, exitCodes } from '@skerry/base'
import { readBody, statusErrorOf, type ClusterClient } from '@skerry/client'
import { programBounds } from './limits-table.ts'
import type { LinePackage } from './package-key.ts'
import { packagePath } from './package-paths.ts'
import { scriptPath } from './program-paths.ts'

/** The script that a machine fetches, with the hash by which a line pins it. */
export interface PinnedScript {
  readonly url: string
  readonly sha256: string
}

export interface LineParts {
  readonly script: PinnedScript
  readonly token: string
  /** The role of the machine and its options; the token is none of them. */
  readonly words: readonly string[]
  /** The proxy by which the machine reaches the server. If omitted, it needs none. */
  readonly by?: LineProxy
}

interface LineProxy {
  /** http://host:port */
  readonly proxy: string
  /** True: the proxy wants the login in a file of the machine. */
  readonly hasLogin: boolean
}

/**
 * Reads the script over the connection of a user, whose server is known, and pins what machines will get from
 * `server`; with an offline package, the script that has its libraries. Throws ExpectedError if the program cannot be had there.
 */
export async function pinScript(
  cluster: ClusterClient,
  { server, offline }: { readonly server: string; readonly offline: LinePackage | undefined },
  signal: AbortSignal,
): Promise<PinnedScript> {
  const path = offline === undefined ? scriptPath : packagePath(offline.digest, { type: 'script' })
  const request = { method: 'GET', path, headers: {} } as const
  const response = await cluster.raw(request, signal)
  const script = await readBody(response.body, programBounds.installScript.scriptBytesMax)
  if (response.status === 200) {
    const sha256 = createHash('sha256').update(script).digest('hex')
    return { url: `${new URL(server).origin}${path}`, sha256 }
  }
  const isOlder = response.status === 403 || (response.status === 404 && offline === undefined)
  const why = isOlder
    ? 'it is of a version that does not give its program away'
    : statusErrorOf(response, script.toString('utf8')).message
  throw new ExpectedError(`Cannot print the line for ${server}: ${why}`, exitCodes.failure)
}

/**
 * Returns one line for the shell of a bare machine. It fetches the script without trust, by curl or, where that is
 * missing, by a program of apt; compares its hash; and hands it the token on standard input, since all users of a
 * machine see the arguments of its processes. sudo is used if it is there.
 * Both programs take a proxy from the environment, which other users do not see.
 */
export function machineLine({ script: { url, sha256 }, token, words, by }: LineParts): string {
  const apt = `/usr/lib/apt/apt-helper -qq ${aptOptions.map((option) => `-o ${option}`).join(' ')}`
  const fetched = `curl -fsSkm 60 -o "$f" "$u" || ${apt} download-file "$u" "$f"`
  const steps = [
    'f=$(mktemp)',
    `trap 'rm -f "$f"' EXIT`,
    `u=${shellWord(url)}`,
    ...(by === undefined ? [] : proxySteps(by)),
    `(ulimit -f 999; command -v curl >/dev/null && ${fetched})`,
    `echo "${sha256}  $f" | sha256sum -c --quiet`,
    `echo ${token} | $(command -v sudo) sh "$f" ${words.map(shellWord).join(' ')}`,
  ]
  return `(${steps.join(' && ')})`
}

/** Each byte of the login is encoded, so that none means anything to a shell or in a URL. */
function proxySteps({ proxy, hasLogin }: LineProxy): string[] {
  const address = proxy.replace(/^http:\/\//, '')
  const hex = `od -An -v -tx1 | tr -d ' \\n' | sed 's/../%&/g'`
  const login = [
    'l=$($(command -v sudo) head -n 1 /etc/skerry/proxy-credentials | tr -d "\\r")',
    `e() { printf %s "$1" | ${hex}; }`,
    `export https_proxy="http://$(e "\${l%%:*}"):$(e "\${l#*:}")@${address}"`,
  ]
  const set = hasLogin ? login : [`export https_proxy=${shellWord(`http://${address}`)}`]
  return [...set, 'unset no_proxy NO_PROXY']
}

const aptOptions = [
  'APT::Sandbox::User=root',
  'Acquire::https::Verify-Peer=false',
  'Acquire::https::Verify-Host=false',
]

/** Quotes a word for a POSIX shell unless it is plain. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
