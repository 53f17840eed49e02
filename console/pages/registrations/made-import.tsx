import { useState } from 'react'
import { Link } from 'wouter'
import { useFleetRow } from '../../data/fleet/fleet-rows.ts'
import { hubNowMs } from '../../data/hub/hub-clock.ts'
import type { Registration } from '../../data/edge/registration.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { SecretText } from '../../parts/secret-text.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useLanguage, useTexts } from '../../words/language.ts'
import { clockText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'

/** The hub's answer to a ClusterRegistration, as far as it is shown. */
export interface MadeRegistration {
  readonly spec: { readonly clusterName: string }
  readonly status: {
    readonly token: string
    readonly command: string
    readonly manifest: string
    readonly expires: string
  }
}

interface MadeImportProps {
  readonly made: MadeRegistration
  readonly waiting: readonly Registration[]
}

/** Shows the text to run where the cluster is, and whether its agent has come. */
export function MadeImport({ made, waiting }: MadeImportProps) {
  const texts = useTexts(both)
  const language = useLanguage()
  const [form, setForm] = useState<'command' | 'manifest'>('manifest')
  const { token, command, manifest, expires } = made.status
  const { clusterName } = made.spec
  const isCommand = form === 'command'
  return (
    <>
      <div className="bar">
        <ChoiceField
          label={texts.runThis}
          value={form}
          choices={[
            ['manifest', texts.forms.manifest],
            ['command', texts.forms.command],
          ]}
          onChange={setForm}
        />
        <span className="muted">
          {texts.until(clockText(Date.parse(expires), hubNowMs(), language))}
        </span>
      </div>
      <SecretText
        text={isCommand ? `(umask 077 && echo ${token} > token) && ${command}` : manifest}
        secret={token}
        isBlock={!isCommand}
      />
      <Arrival
        cluster={clusterName}
        isWaiting={waiting.some((each) => each.cluster === clusterName)}
      />
    </>
  )
}

interface ArrivalProps {
  readonly cluster: string
  readonly isWaiting: boolean
}

/** Says by itself when the agent asks, and when the cluster is there. */
function Arrival({ cluster, isWaiting }: ArrivalProps) {
  const texts = useTexts(both)
  const { row } = useFleetRow(cluster)
  if (row === undefined) {
    return (
      <p className="banner" role="status">
        {isWaiting ? `◔ ${texts.agentWaits}` : `◌ ${texts.noAgentYet(cluster)}`}
      </p>
    )
  }
  return (
    <p className="banner" role="status">
      <StateMark state={row.s} />
      <Link href={`/clusters/${encodeURIComponent(cluster)}`}>{cluster}</Link>
    </p>
  )
}
