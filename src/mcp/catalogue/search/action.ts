import { stem } from './stem.ts'

/** The kinds of doing that names of tools and requests speak of, as bits: a word may mean more than one. */
const KINDS = {
  make: 1,
  remove: 2,
  change: 4,
  look: 8,
  send: 16,
  run: 32,
} as const

const WORDS: Readonly<Record<keyof typeof KINDS, string>> = {
  make:
    'create add new make insert generate build register open start set-up put upload write save append book schedule fork ' +
    'clone copy duplicate draft install invite import init initialize provision post place reserve subscribe',
  remove:
    'delete remove drop erase destroy purge wipe clear uninstall revoke unassign cancel discard detach trash unsubscribe ' +
    'prune evict terminate rid',
  change:
    'update edit modify change alter patch rename move set replace assign close reopen merge approve reject resolve enable ' +
    'disable archive restore pause resume mark adjust convert transform rotate resize crop lock unlock put write save append ' +
    'transition reorder upsert switch toggle bump fix correct increase decrease',
  look:
    'get list show search find fetch read retrieve query lookup check view describe inspect count download see browse look ' +
    'explain summarize compare analyze monitor display enumerate export scrape crawl extract calculate compute lookup ' +
    'aggregate validate verify resolve track tell what which who where when how is are does do any whats who_is recommend ' +
    'suggest discover detect identify preview watch give info',
  send: 'send post reply publish share notify email message forward broadcast submit comment deliver tweet announce ping dm tell',
  run: 'run execute invoke trigger start stop restart launch deploy call evaluate play press click tap connect navigate open go rerun retry dispatch',
}

const kindsOf = new Map<string, number>()
for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
  for (const word of WORDS[kind].split(' ')) {
    const key = stem(word)
    kindsOf.set(key, (kindsOf.get(key) ?? 0) | KINDS[kind])
  }
}

/** The first word that says what is done decides: what follows says to what. 0 where none does. */
export function actionOf(stems: readonly string[]): number {
  for (const one of stems) {
    const kinds = kindsOf.get(one)
    if (kinds !== undefined) return kinds
  }
  return 0
}
