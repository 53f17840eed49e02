import { useState } from 'react'
import { labelsOf } from '../../data/browser/form-values.ts'
import { hubNowMs } from '../../data/hub/hub-clock.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { Facts } from '../../parts/facts.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { SecretText } from '../../parts/secret-text.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useLanguage, useTexts } from '../../words/language.ts'
import { clockText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'

/** The hub's answer to a wish for a line. */
interface NodeJoinCommand {
  readonly command: string
  readonly expiresAt: string
  readonly caHash: string
}

/** Makes the line by which any number of machines join, until its token ends. */
export function LinePanel({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const [labels, setLabels] = useState('')
  const [ttl, setTtl] = useState('3600')
  const [isBare, setBare] = useState(true)
  const [made, setMade] = useState<NodeJoinCommand>()
  const { isBusy, fault, run } = useAction()
  const make = (): Promise<boolean> =>
    run(async () => {
      const path = `/hub/v1/clusters/${encodeURIComponent(cluster)}/node-join-command`
      const body = { labels: labelsOf(labels) ?? {}, ttlSeconds: Number(ttl), machine: isBare }
      setMade(await askJson<NodeJoinCommand>(path, { method: 'POST', body }))
    })
  return (
    <section className="panel">
      <h2>{texts.line}</h2>
      <p className="muted">{isBare ? texts.bareHint : texts.lineHint}</p>
      <form
        className="fields"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <TextField
          label={texts.labels}
          value={labels}
          placeholder={texts.labelsHint}
          onChange={setLabels}
        />
        <div className="field">
          <ChoiceField
            label={texts.expiry}
            value={ttl}
            choices={Object.entries(texts.expiries)}
            onChange={setTtl}
          />
        </div>
        <div className="field">
          <ChoiceField
            label={texts.machine}
            value={isBare ? 'bare' : 'ready'}
            choices={[
              ['bare', texts.machineKinds.bare],
              ['ready', texts.machineKinds.ready],
            ]}
            onChange={(next) => setBare(next === 'bare')}
          />
        </div>
        <div className="field is-button">
          <button type="submit" className="button is-main" disabled={isBusy}>
            {texts.makeLine}
          </button>
        </div>
      </form>
      <FaultLine fault={fault} />
      {made === undefined ? undefined : <MadeLine made={made} />}
    </section>
  )
}

function MadeLine({ made: { command, expiresAt, caHash } }: { readonly made: NodeJoinCommand }) {
  const texts = useTexts(both)
  const language = useLanguage()
  const until = clockText(Date.parse(expiresAt), hubNowMs(), language)
  return (
    <>
      <SecretText text={command} secret={tokenIn(command)} />
      <Facts
        facts={[
          { name: texts.lineUntil, value: until },
          { name: texts.caHash, value: <code>{caHash}</code> },
        ]}
      />
    </>
  )
}

/** A bootstrap token, as Kubernetes writes it. */
function tokenIn(command: string): string {
  return /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/.exec(command)?.[0] ?? ''
}
