import { StatusError, validateLabels, type JsonObject } from '@skerry/api'
import type { Route } from '@skerry/apiserver'
import { ExpectedError, type Clock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { jsonAnswer, readJsonBody } from '@skerry/console-api'
import type { OpenHub } from '../contract/hub-part.ts'
import type { PinnedScript } from '../../program/machine-line.ts'
import type { LinePackage } from '../../program/package-key.ts'
import { hubBounds } from '../limits-table.ts'
import { asksAsUser, notAllowed } from './user-hub.ts'
import { askSite, clusterPattern } from './user-site.ts'

const joinPath = new RegExp(`^/hub/v1/clusters/(${clusterPattern})/node-join-command$`)

/** The answer to POST of the path. */
interface NodeJoinCommand {
  /** A line for the shell of a machine that has the program, or of a bare one. The token in it is a secret. */
  readonly command: string
  /** RFC 3339. */
  readonly expiresAt: string
  readonly caHash: string
}

interface Asked {
  readonly labels: Readonly<Record<string, string>>
  readonly ttlSeconds: number
  /** The machine gets the program by the line itself. */
  readonly isBare: boolean
}

const { bodyBytesMax } = hubBounds.nodeJoinRoute

/**
 * Makes a token at a site with the rights of its asker there, and answers with the line with which nodes join. Each
 * request to the site is the user's own: it needs their right to reach the site and is in the audit log.
 */
export function nodeJoinRoute(hub: OpenHub): Route {
  const { clock } = hub.context
  return {
    prefix: '/hub/v1/clusters/',
    matches: ({ path }) => joinPath.test(path),
    async serve({ info, user, request, signal }) {
      if (info.method !== 'POST') throw notAllowed()
      const [, name = ''] = joinPath.exec(info.path) ?? []
      const body = await readJsonBody(request, { doing, bytesMax: bodyBytesMax })
      const asked = readAsked(body)
      const made = await askSite(
        hub,
        { user, name, doing },
        (site, scope) => makeCommand(site, asked, { clock, name }, scope),
        signal,
      )
      return jsonAnswer(201, made)
    },
  }
}

/** The site is asked with the user's own rights. */
export const nodeJoinAuthorizer = asksAsUser(['post'], (path) => joinPath.test(path))

const doing = 'make a line for nodes'
const { ttlSecondsDefault, ttlSecondsMin, ttlSecondsMax, labelsMax } = hubBounds.nodeJoinRoute

/** Labels that are valid have no character that means anything to a shell. */
function readAsked({
  labels = {},
  ttlSeconds = ttlSecondsDefault,
  machine = false,
  ...others
}: JsonObject): Asked {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refused(`there is no field "${unknown}"`)
  const isTime = Number.isSafeInteger(ttlSeconds)
  const seconds = isTime ? Number(ttlSeconds) : 0
  if (seconds < ttlSecondsMin || seconds > ttlSecondsMax) {
    throw refused(`ttlSeconds must be a whole number from ${ttlSecondsMin} to ${ttlSecondsMax}`)
  }
  if (typeof machine !== 'boolean') throw refused('machine must be true or false')
  if (!isTexts(labels)) throw refused('labels must be an object of texts')
  if (Object.keys(labels).length > labelsMax) throw refused(`it has over ${labelsMax} labels`)
  const [wrong] = validateLabels(labels, 'labels')
  if (wrong) throw refused(`${wrong.field}: ${wrong.message}`)
  return { labels, ttlSeconds: seconds, isBare: machine }
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string')
}

function refused(why: string): StatusError {
  return new StatusError('BadRequest', `Cannot ${doing}: ${why}`)
}

async function makeCommand(
  site: ClusterClient,
  { labels, ttlSeconds, isBare }: Asked,
  { clock, name }: { readonly clock: Clock; readonly name: string },
  signal: AbortSignal,
): Promise<NodeJoinCommand> {
  // Imported with the first line, because most hubs make none for long.
  const { clientServers, publishedAuthority, readSiteInfo } =
    await import('../../admin/site-info.ts')
  const { createJoinToken } = await import('../../admin/join-token.ts')
  const { bareNodeWords, nodeJoinLine } = await import('../../admin/node-join-line.ts')
  const { machineLine } = await import('../../program/machine-line.ts')
  const { packageWords } = await import('../../program/package-key.ts')
  const info = await readSiteInfo(site, signal)
  const caPem = await publishedAuthority(site, signal)
  if (!info || caPem === undefined) {
    const text = `Cannot ${doing}: "${name}" does not publish the facts of a site; add nodes with its own tools`
    throw new StatusError('Conflict', text)
  }
  const [server = '', ...others] = await clientServers(site, info, signal)
  const { offeredPackage } = await import('../../program/line-package.ts')
  const offline = isBare ? await offeredPackage(site, signal) : undefined
  // Nothing is made if there is no program to give.
  const script = isBare ? await scriptFor(site, { server, offline }, signal) : undefined
  const description = 'made by the web console'
  const made = await createJoinToken(
    site,
    { server, caPem, ttlSeconds, description },
    { clock },
    signal,
  )
  const packaged = packageWords(offline)
  return {
    command: script
      ? machineLine({
          script,
          token: made.token,
          words: bareNodeWords(made, { info, labels, packaged }),
        })
      : nodeJoinLine(made, { others, info, labels }),
    expiresAt: new Date(made.expiresAtMs).toISOString(),
    caHash: made.caHash,
  }
}

/** Rejects with a Conflict if the site does not give its program away. */
async function scriptFor(
  site: ClusterClient,
  asked: { readonly server: string; readonly offline: LinePackage | undefined },
  signal: AbortSignal,
): Promise<PinnedScript> {
  const { pinScript } = await import('../../program/machine-line.ts')
  try {
    return await pinScript(site, asked, signal)
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error
    throw new StatusError('Conflict', `Cannot ${doing}: ${error.message}`, { cause: error })
  }
}
