"""Word lists in English and German, in the normalized form of `passages`.

The few words that ask for nothing by themselves can be listed; verbs and nouns cannot. So an
uncovered passage with any other word is taken to ask for something.
"""

_ARTICLES_AND_PRONOUNS = """
    a an the this that these those such it its it's that's there here i i'd i'm we you your our my
    me us they them their he she his her who whom whose which what where so
    der die das den dem des ein eine einen einem einer eines dieser diese dieses ich wir du ihr sie
    er es mir uns mich ihm ihn was welche welcher welches wo dass daß da
"""
_PREPOSITIONS_AND_CONJUNCTIONS = """
    of to in on at by for from with into as and or but also then than about
    von vom zu zum zur in im an am auf bei für aus mit als und oder aber auch dann wie über
"""
_AUXILIARIES = """
    be is are was were been being am do does did have has had will would can could may might must
    shall should need needs ought let let's
    sein ist sind war waren wird werden wurde hat haben hatte kann können darf dürfen muss müssen
    soll sollen sollte sollten möchte möchten
"""
_COURTESY = """
    please thanks thank hello hi hey dear regards cheers kindly want like bitte danke hallo
    brauche brauchen braucht hätte hätten gern gerne
    e g eg i.e ie etc z b bzw
"""
# Verbs by which a text asks for something to be made.
ORDERS = frozenset("""
    write implement create build add update schreibe schreib erstelle baue ergänze ändere
    """.split())
_PRODUCTION = """
    write implement create make build provide give function functions method methods class classes
    module modules program python library code called named assert following below above example examples
    note notes schreibe schreib erstelle baue funktion methode klasse modul programm namens folgende
    beispiel beispiele
"""
# Must, should, negations, restrictions.
OBLIGATIONS = frozenset("""
    must should shall not no never none nor neither without unless except but only don't doesn't
    isn't aren't won't can't cannot mustn't shouldn't nothing nobody
    muss müssen soll sollen nicht kein keine keinen keinem keiner nie ohne außer ausser nur sondern
    aber
    """.split())
_RESULTS = """
    raise raises raised return returns returned error errors exception exceptions refuse refuses
    refused fehler ausnahme
"""
_NUMBERS = """
    zero one two three four five six seven eight nine ten twelve hundred thousand million half twice
    double null eins zwei drei vier fünf sechs sieben acht neun zehn zwölf hundert tausend halb
    doppelt zweimal
"""
_ARROWS = "-> => → ="
STUB_WORDS = frozenset("self none pass".split())  # of stub bodies
# By themselves these ask for nothing.
SILENT_WORDS = frozenset(
    f"{_ARTICLES_AND_PRONOUNS} {_PREPOSITIONS_AND_CONJUNCTIONS} {_AUXILIARIES} {_COURTESY} "
    f"{_PRODUCTION} {_ARROWS}".split()
)
# What code gives: return, raise, error, and numbers.
RESULTS = frozenset(f"{_RESULTS} {_NUMBERS}".split())
