// The only door for markup that a model wrote: a short list of harmless elements, no styles, no ids, no foreign classes, no images.
import DOMPurify from 'dompurify'

const TAGS =
  'a abbr b blockquote br caption code dd del div dl dt em h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre s small span strong sub sup table tbody td th thead tr u ul'
const ATTRIBUTES = 'align class colspan dir href lang rowspan start title'
/** Classes that the renderers of this folder write; any other class could borrow the window's own looks. */
const OWN_CLASS = /^(?:hljs[\w-]*|language-[\w+#.-]+|md-task|md-table|md-plain)$/

const purify = DOMPurify(window)
purify.addHook('uponSanitizeAttribute', (_node, data) => {
  if (data.attrName === 'class')
    data.attrValue = data.attrValue
      .split(/\s+/)
      .filter((c) => OWN_CLASS.test(c))
      .join(' ')
  if (data.attrName === 'href' && !/^(?:https?:|mailto:)/i.test(data.attrValue.trim())) data.keepAttr = false
})
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A' || !node.hasAttribute('href')) return
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer')
})

export const sanitize = (html: string): string =>
  purify.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(' '),
    ALLOWED_ATTR: ATTRIBUTES.split(' '),
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false
  })
