import { type Refusal, refuse } from '../../words/verdict.ts'
import type { Selected } from '../tool/selected.ts'
import { type Drawn, extract } from './extract.ts'
import { type OwnPlaces, reachesOwn } from './own-places.ts'
import { nameOf } from './name.ts'
import { type Ground, type Located, assertGround, locate, survey } from './path.ts'
import { shown } from './plain-text.ts'
import type { Root, Scope, Scopes } from './scoped.ts'
import { type Trouble, isTrouble } from './trouble.ts'
import { hostOf, urlOf } from './url.ts'

const NONE: readonly Scope[] = Object.freeze([])

/**
 * Draws the scopes of a call and resolves each to what it means now. Nothing is cached: a link may be put in place
 * between two calls. Between this look and the server's own open there is still a gap, which only the sandbox closes.
 */
export class ScopeResolver implements Scopes {
  readonly #roots: readonly Root[]
  readonly #protectedPaths: readonly string[]
  readonly #own: OwnPlaces | undefined

  /**
   * `protectedPaths` are the gateway's own home, configuration, policies and lock file: no scope may lie in them, and none
   * but a listing may hold them. Both lists hold absolute paths. With `own` all that any call says is looked through for them,
   * and for the gateway's own door.
   *
   * @throws TypeError for a relative path, and for two roots of one name.
   */
  constructor(roots: readonly Root[], protectedPaths: readonly string[], own?: OwnPlaces) {
    assertGround(roots, protectedPaths)
    this.#roots = roots
    this.#protectedPaths = protectedPaths
    this.#own = own
  }

  resolve({ tool, proposal }: Pick<Selected, 'tool' | 'proposal'>): readonly Scope[] | Refusal {
    const because = this.#own && reachesOwn(proposal.arguments, tool.server, this.#own, this.#roots)
    if (because !== undefined) return refuse('SCOPE_OUTSIDE', { because })
    if (tool.profile.scopes.length === 0) return NONE
    const drawn = extract(proposal.arguments, tool.profile.scopes)
    if ('kind' in drawn) return drawn
    let ground: Ground | undefined
    const scopes = new Map<string, Scope>()
    for (const one of drawn) {
      if (one.extractor.kind === 'path') ground ??= survey(this.#roots, this.#protectedPaths)
      const meant = meaning(one, ground)
      if (isTrouble(meant)) return refused(one, meant, this.#roots)
      const { kind, access } = one.extractor
      scopes.set(`${kind} ${access} ${meant.value}`, Object.freeze({ kind, access, ...meant }))
    }
    return [...scopes.values()]
  }
}

function meaning({ extractor, text }: Drawn, ground: Ground | undefined): Located | Trouble {
  switch (extractor.kind) {
    case 'path':
      return locate(text, extractor.access, extractor.base, ground!)
    case 'url':
      return bare(urlOf(text))
    case 'host':
      return bare(hostOf(text))
    case 'repo':
    case 'table':
    case 'record':
    case 'literal':
      return bare(nameOf(text, extractor.kind))
    default:
      return extractor.kind satisfies never
  }
}

function bare(value: string | Trouble): Located | Trouble {
  return typeof value === 'string' ? { value, within: [] } : value
}

function refused({ extractor, at, text }: Drawn, trouble: Trouble, roots: readonly Root[]): Refusal {
  return refuse(trouble.code, {
    scope: extractor.kind,
    at,
    because: trouble.because,
    // A URL may carry credentials and tokens; the place of it is enough for who sent it.
    ...(extractor.kind === 'url' || extractor.kind === 'host' ? {} : { given: shown(text) }),
    ...(trouble.code === 'SCOPE_OUTSIDE' ? { roots: roots.map((root) => root.name) } : {}),
  })
}
