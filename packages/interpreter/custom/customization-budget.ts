import { RecentMap, type Clock } from '@skerry/base'
import type { AnyObject } from '@skerry/api'
import type { CustomScript } from './customization.ts'
import { customizationLimits } from '../limits-table.ts'

/** A customization that may not run for some time. */
export interface Suspension {
  readonly customization: string
  readonly kind: string
  readonly why: string
  readonly forMs: number
}

interface Account {
  /** The script of each rule. Another text is another script, which has done nothing yet. */
  readonly texts: Map<string, string>
  steps: number
  atMs: number
  overruns: number
  suspendedUntilMs: number
  why: string
}

/** Keeps account of what scripts take. A thousand objects would take what one takes a thousand times. */
export class CustomizationBudget {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #onSuspended: (suspension: Suspension) => void
  readonly #accounts = new RecentMap<string, Account>(customizationLimits.keptMax)

  constructor(
    clock: Pick<Clock, 'monotonicMs'>,
    onSuspended: (suspension: Suspension) => void = () => {},
  ) {
    this.#clock = clock
    this.#onSuspended = onSuspended
  }

  /** Throws while the customization is suspended for this kind. */
  expectFree(script: CustomScript, object: AnyObject): void {
    const account = this.#accountOf(script, object)
    if (this.#clock.monotonicMs() >= account.suspendedUntilMs) return
    throw new Error(account.why)
  }

  /** Charges a call. `Overrun` means that a limit ended it. */
  charge(
    script: CustomScript,
    object: AnyObject,
    { used, isOverrun }: { readonly used: number; readonly isOverrun: boolean },
  ): void {
    const account = this.#accountOf(script, object)
    const { restMs, restMaxMs, stepsMax, stepsPerSecond } = customizationLimits
    account.steps -= used
    account.overruns = isOverrun ? account.overruns + 1 : 0
    const kind = object.kind
    const suspend = (why: string, forMs: number): void => {
      const seconds = Math.ceil(forMs / 1000)
      account.why = `${why}, and rests for ${seconds} s`
      account.suspendedUntilMs = this.#clock.monotonicMs() + forMs
      this.#onSuspended({ customization: script.customization, kind, why, forMs })
    }
    if (isOverrun) {
      suspend('it took too much', Math.min(restMaxMs, restMs * 2 ** (account.overruns - 1)))
    } else if (account.steps < 0) {
      // Wait until half of it has come back: otherwise each call would suspend it again.
      const missing = stepsMax / 2 - account.steps
      suspend('its calls took too much together', (missing / stepsPerSecond) * 1000)
    }
  }

  #accountOf(
    { customization, rule, text }: CustomScript,
    { apiVersion, kind }: AnyObject,
  ): Account {
    const key = `${customization} ${apiVersion} ${kind}`
    const known = this.#accounts.get(key)
    const isChanged = known !== undefined && (known.texts.get(rule) ?? text) !== text
    const account = known === undefined || isChanged ? this.#open() : known
    account.texts.set(rule, text)
    this.#refill(account)
    this.#accounts.set(key, account)
    return account
  }

  #open(): Account {
    const atMs = this.#clock.monotonicMs()
    const { stepsMax: steps } = customizationLimits
    return { texts: new Map(), steps, atMs, overruns: 0, suspendedUntilMs: atMs, why: '' }
  }

  #refill(account: Account): void {
    const nowMs = this.#clock.monotonicMs()
    const { stepsMax, stepsPerSecond } = customizationLimits
    const came = ((nowMs - account.atMs) / 1000) * stepsPerSecond
    account.steps = Math.min(stepsMax, account.steps + came)
    account.atMs = nowMs
  }
}
