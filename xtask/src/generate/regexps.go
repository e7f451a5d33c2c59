// What Go's regexp package says to expressions: those below, and as many as are asked for that are thrown together.
//
// The first line of what it prints are texts; each other line is an expression, and either why Go refuses it or, for each of the
// texts, whether it matches.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
)

var texts = []string{
	"", "a", "b", "k", "K", "\u212a", "s", "S", "\u017f", "\u00df", "\u1e9e", "ab", "abc", "aab", "ba", "x", "0", "9", "_", "-", "&", "[", "]",
	"^", "~", ":", ".", "\\", "{", "}", "a{,2}", "\n", "a\nb", "\t", "\v", " ", "\u00a0", "\u0085", "\u00e9", "\u00c9", "\u0661", "\u03b1", "\u0391", "\u03c3", "\u03c2", "\u4e2d", "\U0001F600",
	"a b", "a\u00e9b", "web-1", "v1.2.3-rc.1", "\u2028", "\x00", "\x7f", "*", "(", ")", "|", "$", "?", "+", "E", "Q", "\u00b5", "\u03bc",
}

var patterns = []string{
	``, `a`, `^$`, `^web-\d+$`, `[a-z&&[^x]]`, `^[a-z&&[^x]]$`, `^[a--]$`, `^[a~~b]$`, `^[--a]$`, `^[a-\-z]$`, `^[]a]+$`, `^[^]a]+$`, `^[[a]$`,
	`^[[:alpha:]]$`, `^[[:^alpha:]]$`, `^[[:word:]]$`, `^[^[:word:]]$`, `[[:foo:]]`, `[[:alpha]`, `[:alpha:]`, `^[[:space:]]$`, `^[[:punct:]]$`, `^[[:ascii:]]$`, `^[[:graph:]]$`, `^[[:print:]]$`, `^[[:cntrl:]]$`, `^[[:blank:]]$`, `^[[:xdigit:]]$`, `(?i)^[[:lower:]]$`, `(?i)^[[:^upper:]]$`, `[[:perl space:]]`,
	`^\d$`, `^\D$`, `^\w$`, `^\W$`, `^\s$`, `^\S$`, `(?i)^\w$`, `(?i)^\W$`, `(?i)^[^\W]$`, `^[\d\s]$`, `^[^\d\s]$`, `[a-\d]`, `[\d-z]`,
	`\bb`, `b\b`, `a\B`, `\B`, `\b`, `é|\B`, `\B|é`, `[\b]`, `a\bé`, `\Aa`, `a\z`, `a\Z`, `\C`, `\G`, `\h`, `\R`, `\X`, `\K`, `\N`, `\e`, `\c`, `\cA`, `\1`, `\8`, `\0`, `\07`, `\012`, `\1234`, `\x41`, `\x4`, `\x`, `\x{}`, `\x{61}`, `\x{0000061}`, `\x{110000}`, `\x{D800}`, `[\x{D800}-\x{E000}]`, `\x{g}`, `\x{61`, `\u0061`, `\U00000061`, `\_`, `\-`, `\ `, `\é`, `\`, `a\`, `[\`, `\Q`, `\Qa.b`, `\Q.\E`, `\Qab\E*`, `a\Q\E*`, `\Qa\\E`, `\E`, `(?i)\Qk\E`,
	`\pN`, `\pL`, `^\PL$`, `\p{L}`, `\p{^L}`, `\P{^L}`, `\p{Greek}`, `\p{greek}`, `\p{Grek}`, `\p{sc=Greek}`, `\p{Letter}`, `\p{Lowercase Letter}`, `\p{alphabetic}`, `\p{Any}`, `\p{ASCII}`, `\p{Assigned}`, `\p{Cn}`, `\p{LC}`, `\p{Cs}`, `\P{Cs}`, `\p`, `\p{`, `\p{}`, `\p{Latin`, `\pé`, `[\pL`, `[\p{Nope}]`, `(?i)^\p{Lu}$`, `(?i)^\P{Lu}$`, `(?i)^[\p{Greek}]$`, `(?i)^\p{ASCII}$`, `^\p{Han}$`, `\p{^}`, `\p{Digit}`, `\p{Emoji}`, `\p{Age=3}`,
	`a*`, `a**`, `a*+`, `a+?`, `a+??`, `a*?*`, `a{2}`, `a{2}{3}`, `a{2}?`, `a{2,1}`, `a{,2}`, `a{1001}`, `a{1000}`, `a{1,1001}`, `a{0}`, `a{00}`, `a{01}`, `a{2`, `a{2,`, `a{2,x}`, `a{99999999999}`, `{2}`, `{`, `}`, `{,2}`, `*`, `+a`, `?`, `|*`, `(*)`, `(?i)*`, `a(?i)*`, `a*(?i)*`, `a*(?i)+?`, `a{2}(?i){3}`, `^*`, `$+`, `\b*`, `^{2}`, `(a{10}){100}`, `(a{10}){101}`, `((a{2}){5}){100}`, `((a{2}){5}){101}`, `(a{0}){1000}`, `(a{1000}){0}`, `(a{1000}){1}`, `(a{1000}){2}`, `(a{1000}){0,1}`, `(a{1000})*`, `(a*){1000}`, `(a{2,}){500}`, `(a{2,}){501}`, `(a{0,}){1000}`,
	`(`, `)`, `()`, `a)`, `(a`, `((a)`, `(a))`, `(|a)`, `(a|)`, `a||b`, `|`, `(?:)`, `(?)`, `(?i)`, `(?i`, `(?`, `(?:`, `(?:a`, `(?i:a)b`, `(?i)a(?-i)b`, `(a(?i)b)c`, `(?i-s:A.)`, `(?-)`, `(?i-)`, `(?--i)`, `(?-i-s)`, `(?ii)`, `(?x)a b`, `(?x`, `(?u)a`, `(?R)a`, `(?im-sU)A`, `(?U)a+`, `(?U)a+?`, `(?s)a.b`, `a.b`, `(?m)^b$`, `^b$`, `(?m)a$`, `(?m)\Ab`, `(?m)\z`, `(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`, `(?<n>a)`, `(?P<n>a)`, `(?P<n>a)(?P<n>b)`, `(?P<1>a)`, `(?P<>a)`, `(?P<n`, `(?P<`, `(?<`, `(?P`, `(?P=n)`, `(?P>n)`, `(?'n'a)`, `(?P<n m>a)`, `(?P<é>a)`, `(?#c)a`, `(?>a)`, `(?|a)`,
	`(?i)k`, `(?i)s`, `(?i)ß`, `(?i)σ`, `(?i)µ`, `(?i)^[a-z]$`, `(?i)^[^a-z]$`, `(?i)^[K]$`, `(?i)^[^s]$`, `(?i)É`, `(?i)[é]`, `(?i)^[\x00-\x{10FFFF}]$`, `^[^\x00-\x{10FFFF}]$`, `^[\x00-\x{10FFFF}]$`, `[z-a]`, `[a-`, `[a`, `[`, `[]`, `[^]`, `[^`, `[]]`, `[^]]`, `[a-]`, `[-a]`, `[a-b-c]`, `[\x61-\x63]`, `[\Qa\E]`, `[\A]`, `[\z]`, `[$^.]`, `[\]]`, `[a\]b]`, `[\-]`, `[+--]`, `[é-ê]`, `[[:alpha:]-z]`, `[a-[:digit:]]`, `[a-c[:digit:]]`,
	`^(?:prod|stage)-.*$`, `^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z-.]+))?$`, `.*-rc.*`, `#`, `a#b`, ` `, `a b`, "\n", "a\nb", "\u2028", `é`, `^.$`, `^..$`, `(?s)^.$`, `/`, `'`, `"`, "`", `<>`, `,`, `;`, `=`, `!`, `%`, `@`,
}

var pieces = []string{
	"a", "b", "k", "s", "x", "0", "-", "_", "&", "&&", "~~", "--", "é", "σ", "中", ".", "^", "$", "|", "(", ")", "(?:", "(?i)", "(?i:", "(?-i)", "(?m)", "(?s)", "(?U)", "(?x)", "(?P<n>", "(?<m>", "(?",
	"*", "+", "?", "{2}", "{2,}", "{0,3}", "{40}", "{1001}", "{", "}", "{,2}", "[", "[^", "]", "[a-z]", "[^a-z]", "[[:alpha:]]", "[:digit:]", "[[:^space:]", "[a-z&&[^x]]", `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\b`, `\B`, `\A`, `\z`, `\Z`, `\Q`, `\E`,
	`\pL`, `\PN`, `\p{Greek}`, `\p{^Lu}`, `\n`, `\t`, `\x41`, `\x{e9}`, `\.`, `\-`, `\]`, `\[`, `\\`, `\1`, `\07`, `\C`, "#", " ", "\n",
}

func main() {
	count, seed := 1000, 1
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[1])
		seed, _ = strconv.Atoi(os.Args[2])
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.Encode(texts)
	for _, pattern := range patterns {
		encoder.Encode([]string{pattern, answer(pattern)})
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range count {
		var pattern strings.Builder
		for range 1 + random.IntN(8) {
			pattern.WriteString(pieces[random.IntN(len(pieces))])
		}
		encoder.Encode([]string{pattern.String(), answer(pattern.String())})
	}
}

func answer(pattern string) string {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return err.Error()
	}
	var bits strings.Builder
	for _, text := range texts {
		if compiled.MatchString(text) {
			fmt.Fprint(&bits, "1")
		} else {
			fmt.Fprint(&bits, "0")
		}
	}
	return bits.String()
}
