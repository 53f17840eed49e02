import { useState } from 'react'
import { askJson } from '../../data/hub/hub-request.ts'
import {
  compareFingerprint,
  registrationsPath,
  signingRequests,
  type Registration,
} from '../../data/edge/registration.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { commandLine } from '../../data/objects/object-commands.ts'
import { Age } from '../../parts/age.tsx'
import { Allowed } from '../../parts/allowed.tsx'
import { CheckField } from '../../parts/check-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface RegistrationCardProps {
  readonly registration: Registration
  readonly onDecided: () => void
}

/** The decision is the approval of a signing request. */
const approve = {
  verb: 'update',
  subresource: 'approval',
  object: { ...signingRequests, name: '' },
}

/** One agent that waits. It is accepted only after its key was compared with that in its log. */
export function RegistrationCard({ registration, onDecided }: RegistrationCardProps) {
  const texts = useTexts(both)
  const [copied, setCopied] = useState('')
  const [isCompared, setCompared] = useState(false)
  const { isBusy, fault, run } = useAction()
  const { request, cluster, fingerprint, warnings } = registration
  const comparison = compareFingerprint(fingerprint, copied)
  const decide = async (accepts: boolean): Promise<void> => {
    const path = `${registrationsPath}/${encodeURIComponent(request)}`
    const body = { accepts, fingerprint }
    if (await run(() => askJson(path, { method: 'POST', body }))) onDecided()
  }
  const isSame = comparison === 'equal' || (comparison === 'empty' && isCompared)
  return (
    <section className="panel" aria-label={cluster}>
      <h2>{cluster}</h2>
      {warnings.map((warning) => (
        <p key={warning} className="banner tone-warn">
          ▲ {warning}
        </p>
      ))}
      <RegistrationFacts registration={registration} />
      <Allowed action={{ ...approve, object: { ...approve.object, name: request } }} isExplained>
        <p>{texts.compare}</p>
        <div className="fields">
          <TextField
            label={texts.copied}
            value={copied}
            placeholder="sha256:…"
            fault={comparison === 'different' ? texts.different : undefined}
            onChange={setCopied}
          />
        </div>
        {comparison === 'equal' ? (
          <p className="tone-ok freshness">● {texts.equal}</p>
        ) : (
          <CheckField label={texts.compared} isChecked={isCompared} onChange={setCompared} />
        )}
        <FaultLine fault={fault} />
        <Decision
          registration={registration}
          isBusy={isBusy}
          isSame={isSame}
          onDecide={(accepts) => void decide(accepts)}
        />
      </Allowed>
    </section>
  )
}

function RegistrationFacts({ registration }: Pick<RegistrationCardProps, 'registration'>) {
  const texts = useTexts(both)
  const { address, version, id, waitsFor, since, fingerprint } = registration
  return (
    <Facts
      facts={[
        { name: texts.address, value: address || '–' },
        { name: texts.version, value: version || '–' },
        { name: texts.id, value: id || '–' },
        { name: texts.waitsFor, value: waitsFor || '–' },
        { name: texts.since, value: <Age atMs={Date.parse(since)} /> },
        { name: texts.fingerprint, value: <code>{fingerprint}</code> },
      ]}
    />
  )
}

interface DecisionProps {
  readonly registration: Registration
  readonly isBusy: boolean
  readonly isSame: boolean
  readonly onDecide: (accepts: boolean) => void
}

function Decision({ registration, isBusy, isSame, onDecide }: DecisionProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const { cluster, request } = registration
  return (
    <p className="empty-actions">
      <button
        type="button"
        className="button is-main"
        disabled={isBusy || !isSame}
        onClick={() => onDecide(true)}
      >
        {texts.accept}
      </button>
      <button
        type="button"
        className="button is-bad"
        disabled={isBusy}
        title={texts.rejectHint}
        onClick={() => onDecide(false)}
      >
        {texts.reject}
      </button>
      <CopyButton
        label={words.asCommand}
        text={commandLine(
          'skerry',
          'cluster',
          isSame ? 'accept' : 'reject',
          cluster,
          '--request',
          request,
        )}
      />
    </p>
  )
}
