import { builtinKinds } from '@skerry/kinds'
import {
  accessQuestion,
  createDefaultAccess,
  type Authorizer,
  type BackendDial,
} from '@skerry/apiserver'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { generateKeyPair } from '@skerry/pki'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'
import { betaSwitches } from '../corpus.ts'
import { AskedQuestions } from './asked-questions.ts'
import { effectTokens, type AskedSubject } from './play-effects.ts'
import type { AskedTarget, RecordedTarget } from './recording.ts'

export interface AskingServer extends AskedSubject, AsyncDisposable {
  readonly server: TestApiServer
}

/** No backend is reachable: only the questions before a dial count. */
const unreachable: BackendDial = {
  dialNode: () => Promise.reject(new Error('Cannot reach the node: there is none')),
  dialAddress: () => Promise.reject(new Error('Cannot reach the address: there is nobody')),
}

/**
 * Starts our server as upstream's was set up for the recording: one authorizer records its questions, and
 * administrators pass without it.
 */
export async function startAskingServer(): Promise<AskingServer> {
  const questions = new AskedQuestions()
  const authorizer: Authorizer = {
    async authorize(asked) {
      const isAllowed = questions.ask(asked.user.name, accessQuestion(asked))
      return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' }
    },
  }
  const { privateKeyPem: signingKeyPem } = await generateKeyPair()
  const issuer = 'https://kubernetes.default.svc.cluster.local'
  const access = createDefaultAccess(
    {
      serviceAccounts: { issuer, signingKeyPem },
      dial: unreachable,
      tokenFile: effectTokens(),
      configuredAuthorizers: {
        authorizerOf: () => authorizer,
        hasWebhook: () => true,
        setConfig: async () => undefined,
        [Symbol.dispose]: () => undefined,
      },
    },
    { clock: systemClock, random: systemRandom, log: silentLogger },
  )
  const kinds = await builtinKinds({ switches: betaSwitches })
  const server = await startTestApiServer({ access, kinds })
  return {
    server,
    subject: server,
    questions,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Returns what our server asks about a request, and its answer when the first question is answered with no. */
export async function replayTarget(
  { server, questions }: AskingServer,
  { method, target }: AskedTarget,
  user: string,
): Promise<RecordedTarget> {
  const transport = server.transportAs({ name: user, groups: [], extra: {} })
  const { status } = await transport.send(
    // The transport's own clients use five methods; a stranger sends any text, which passes as it is.
    { method: method as 'GET', path: target, headers: {} },
    never,
  )
  return { method, target, status, questions: questions.of(user) }
}

const never = new AbortController().signal
